/**
 * The figures an object can be shown by while there is no picture of it. Each is a function of chance alone and
 * returns layers from back to front, `{ kind, path }`: `ink` and `accent` are filled, `line` and `accent-line` are
 * drawn thin, `mask` is filled with the ground and hides what is behind it.
 */

import { cut, disc, engraveSolid, engraveTone, openLine, polarCurve, steps, turn } from "./engraving.js"

const ink = (path) => ({ kind: "ink", path })
const line = (path) => ({ kind: "line", path })
const mask = (path) => ({ kind: "mask", path })
const accent = (path) => ({ kind: "accent", path })
const accentLine = (path) => ({ kind: "accent-line", path })

const between = (random, least, most) => least + (most - least) * random()
const whole = (random, least, most) => Math.floor(between(random, least, most + 1))
const polar = (angle, radius) => [radius * Math.cos(angle), radius * Math.sin(angle)]

/** A smooth curve through `[at, value]` pairs, `at` rising from 0 to 1. */
const through = (pairs) => (at) => {
  const found = pairs.findIndex(([place]) => place >= at)
  const next = found === -1 ? pairs.length - 1 : Math.max(1, found)
  const [fromAt, from] = pairs[next - 1]
  const [toAt, to] = pairs[next]
  const part = Math.min(1, Math.max(0, (at - fromAt) / (toAt - fromAt)))
  return from + (to - from) * part * part * (3 - 2 * part)
}

/** The length of a profile, and the places at equal distances along it: a flat shoulder gets its share of lines. */
const evenly = (radius, height) => {
  const count = 600
  const lengths = [0]
  for (let index = 1; index <= count; index++) {
    const run = radius(index / count) - radius((index - 1) / count)
    lengths.push(lengths[index - 1] + Math.hypot(height / count, run))
  }
  const places = []
  let index = 1
  for (let wanted = 0; wanted <= count; wanted++) {
    const length = (lengths[count] * wanted) / count
    while (index < count && lengths[index] < length) {
      index++
    }
    places.push((index - 1 + (length - lengths[index - 1]) / (lengths[index] - lengths[index - 1])) / count)
  }
  const place = (part) => {
    const exact = Math.min(1, Math.max(0, part)) * count
    const below = Math.min(count - 1, Math.floor(exact))
    return places[below] + (places[below + 1] - places[below]) * (exact - below)
  }
  return { length: lengths[count], place }
}

const tilt = 0.3

const ellipse = (y, width, height) =>
  openLine(
    steps(91, (index) => [width * Math.cos((index / 90) * turn), y + height * Math.sin((index / 90) * turn)])
  )

/** Something turned on a lathe: a profile of `[place, radius]` from top to bottom, with flutes if it has any. */
const turned = (profile, { fluteDepth = 0, flutes = 0, gap = 7, height }) => {
  const radius = through(profile)
  const { length, place } = evenly(radius, height)
  const surface = (u, v) => {
    const at = place(u)
    const angle = v * turn - Math.PI / 2
    const reach = radius(at) * (1 + fluteDepth * Math.cos(flutes * angle))
    return [reach * Math.cos(angle), (at - 0.5) * height, reach * Math.sin(angle)]
  }
  const solid = engraveSolid(surface, {
    lines: Math.round(length / gap),
    breadth: gap * 0.98,
    samples: flutes > 0 ? 360 : 120,
    tilt
  })
  return [mask(solid.mask), ink(solid.ink)]
}

/** The top of a turned thing, as rings seen from a little above. */
const lid = (height, radii) => {
  const y = (-height / 2) * Math.cos(tilt)
  return radii.map((radius) => ellipse(y, radius, radius * Math.sin(tilt))).join("")
}

/** A band round a turned thing, at a place of its profile. */
const girdle = (height, place, radius) => {
  const y = (place - 0.5) * height * Math.cos(tilt)
  const points = steps(61, (index) => {
    const angle = (index / 60) * Math.PI
    return [radius * Math.cos(angle), y + radius * Math.sin(angle) * Math.sin(tilt)]
  })
  return cut(
    points,
    points.map((_, index) => 1.5 + 6 * Math.sin((index / 60) * Math.PI))
  )
}

const bell = (random) => {
  const height = 690
  const flare = between(random, 330, 350)
  const profile = [
    [0, 26],
    [0.05, 44],
    [0.09, 30],
    [0.13, 70],
    [0.2, 168],
    [0.42, 212],
    [0.7, 250],
    [0.86, 300],
    [0.95, flare],
    [1, flare + 8]
  ]
  const tongueY = 370
  return [
    accent(disc(0, tongueY + 58, 44)),
    ...turned(profile, { height }),
    accent(girdle(height, 0.3, 191) + girdle(height, 0.33, 197) + girdle(height, 0.88, 309))
  ]
}

const bottle = (random) => {
  const height = 840
  const body = between(random, 150, 178)
  const shoulder = between(random, 0.4, 0.48)
  const profile = [
    [0, 50],
    [0.03, 58],
    [0.065, 58],
    [0.09, 42],
    [shoulder - 0.17, 48],
    [shoulder, body],
    [0.9, body - 4],
    [0.97, body - 8],
    [1, body - 30]
  ]
  return [
    ...turned(profile, { height }),
    accent(girdle(height, 0.03, 58) + girdle(height, shoulder + 0.08, body) + girdle(height, 0.86, body - 3)),
    line(lid(height, [50, 38, 26, 14]))
  ]
}

const jar = (random) => {
  const height = 640
  const belly = between(random, 285, 310)
  const profile = [
    [0, 190],
    [0.05, 200],
    [0.1, 172],
    [0.16, 178],
    [0.46, belly],
    [0.86, 206],
    [0.94, 196],
    [1, 208]
  ]
  const y = (-height / 2) * Math.cos(tilt)
  const depth = 190 * Math.sin(tilt)
  return [
    ...turned(profile, { height }),
    mask(ellipse(y, 190, depth)),
    line(lid(height, [190, 180])),
    line(
      steps(15, (index) => {
        const x = -168 + index * 24
        const reach = depth * Math.sqrt(1 - (x / 182) ** 2)
        return openLine([
          [x, y - reach],
          [x, y + reach]
        ])
      }).join("")
    ),
    accent(
      cut(
        [
          [-60, y - depth * 0.93],
          [60, y + depth * 0.93]
        ],
        [9, 9]
      ) +
        girdle(height, 0.27, 222) +
        girdle(height, 0.3, 232)
    )
  ]
}

const tin = (random) => {
  const height = 430
  const width = between(random, 320, 340)
  const profile = [
    [0, width + 10],
    [0.2, width + 10],
    [0.215, width],
    [0.96, width],
    [1, width + 6]
  ]
  const y = (-height / 2) * Math.cos(tilt)
  return [
    ...turned(profile, { height }),
    mask(ellipse(y, width + 10, (width + 10) * Math.sin(tilt))),
    line(lid(height, [width + 10, ...steps(22, (index) => width - 4 - index * 14)])),
    accent(girdle(height, 0.23, width + 1) + girdle(height, 0.26, width + 1))
  ]
}

const cylinder = (random) => {
  const height = 720
  const width = between(random, 215, 235)
  const profile = [
    [0, width - 12],
    [0.02, width],
    [0.98, width],
    [1, width - 12]
  ]
  const y = (-height / 2) * Math.cos(tilt)
  return [
    ...turned(profile, { height, gap: 5.2 }),
    mask(ellipse(y, width, width * Math.sin(tilt))),
    line(lid(height, [width - 12, width - 22, width - 32, width - 42])),
    accentLine(lid(height, [width - 52])),
    accent(
      girdle(height, between(random, 0.3, 0.5), width) + girdle(height, between(random, 0.6, 0.8), width)
    )
  ]
}

const mould = (random) => {
  const height = 600
  const flutes = whole(random, 8, 10) * 2
  const profile = [
    [0, 60],
    [0.04, 96],
    [0.12, 120],
    [0.3, 150],
    [0.34, 196],
    [0.62, 226],
    [0.66, 284],
    [0.95, 318],
    [0.97, 352],
    [1, 356]
  ]
  return [
    ...turned(profile, { height, flutes, fluteDepth: 0.05, gap: 6.4 }),
    accentLine(lid(height, [56, 44, 32]))
  ]
}

const spherePoint = (radius, lean) => (u, v) => {
  const height = (u - 0.5) * Math.PI * 0.995
  const angle = v * turn - Math.PI / 2
  const reach = radius(height, angle)
  const [x, y, z] = [
    reach * Math.cos(height) * Math.cos(angle),
    reach * Math.sin(height),
    reach * Math.cos(height) * Math.sin(angle)
  ]
  return [x * Math.cos(lean) - y * Math.sin(lean), x * Math.sin(lean) + y * Math.cos(lean), z]
}

const globe = (random) => {
  const lean = between(random, 0.36, 0.42)
  const solid = engraveSolid(
    spherePoint(() => 330, lean),
    { lines: 66, breadth: 13, samples: 200, tilt }
  )
  const meridianLine = engraveSolid((u, v) => spherePoint(() => 331, lean)(v, u), {
    lines: 25,
    breadth: 0.1,
    samples: 120,
    tilt
  })
  const coast = (x, y, size) =>
    steps(40, (_, part) => {
      const reach = size * (1 + 0.28 * Math.sin(part * turn * 3 + x) + 0.16 * Math.sin(part * turn * 7 + y))
      return [x + reach * Math.cos(part * turn), y + 0.8 * reach * Math.sin(part * turn)]
    })
  const axis = [Math.sin(lean), -Math.cos(lean)]
  return [
    mask(solid.mask),
    ink(solid.ink),
    line(meridianLine.ink),
    accent(`${openLine(coast(between(random, -120, -60), between(random, -20, 60), 30))}Z`),
    accentLine(polarCurve(() => 372) + polarCurve(() => 384)),
    line(
      steps(72, (index, part) =>
        openLine([polar(part * turn, 372), polar(part * turn, index % 6 === 0 ? 400 : 384)])
      ).join("")
    ),
    ink(
      [-1, 1]
        .map((end) =>
          cut(
            [
              [axis[0] * 330 * end, axis[1] * 330 * end],
              [axis[0] * 440 * end, axis[1] * 440 * end]
            ],
            [9, 5]
          )
        )
        .join("")
    )
  ]
}

const stone = (random) => {
  const waves = steps(7, () => ({
    high: whole(random, 2, 6),
    round: whole(random, 1, 5),
    phase: random() * turn,
    size: between(random, 0.015, 0.05)
  }))
  const radius = (height, angle) =>
    320 *
    (1 +
      Math.cos(height) *
        waves.reduce(
          (sum, { high, phase, round, size }) =>
            sum + size * Math.sin(high * height + phase) * Math.cos(round * angle + 2 * phase),
          0
        ))
  const solid = engraveSolid(spherePoint(radius, between(random, -0.5, 0.5)), {
    lines: 96,
    breadth: 11,
    samples: 240,
    tilt: 0.5
  })
  return [
    mask(solid.mask),
    ink(solid.ink),
    accentLine(
      steps(5, (index) => polarCurve((angle) => 392 + index * 9 + 5 * Math.sin(angle * 5 + index))).join("")
    )
  ]
}

/** A tube wound in the plane, whose middle line and breadth are functions of the way along it, 0 to 1. */
const tube = (middle, breadthAt, { flat = 1, lines, breadth }) => {
  const nudge = 1e-3
  const surface = (u, v) => {
    const [x, y] = middle(u)
    const [nextX, nextY] = middle(u + nudge)
    const length = Math.hypot(nextX - x, nextY - y)
    const [alongX, alongY] = [(nextX - x) / length, (nextY - y) / length]
    const angle = v * turn - Math.PI / 2
    const reach = breadthAt(u)
    return [
      x + alongY * reach * Math.cos(angle),
      y - alongX * reach * Math.cos(angle),
      flat * reach * Math.sin(angle)
    ]
  }
  return engraveSolid(surface, { lines, breadth, samples: 64, tilt: 0 })
}

/** The open end of a tube, looked into from the side. */
const mouth = (middle, radius, openness) => {
  const [x, y] = middle(1)
  const [beforeX, beforeY] = middle(0.999)
  const along = Math.atan2(y - beforeY, x - beforeX)
  const ring = (part) =>
    `${openLine(
      steps(60, (_, round) => {
        const across = radius * part * Math.sin(round * turn)
        const deep = radius * part * openness * Math.cos(round * turn)
        return [
          x + deep * Math.cos(along) - across * Math.sin(along),
          y + deep * Math.sin(along) + across * Math.cos(along)
        ]
      })
    )}Z`
  return [
    mask(ring(1)),
    accentLine(ring(1) + ring(0.95)),
    line([0.86, 0.76, 0.66, 0.56, 0.46, 0.36, 0.26, 0.16].map(ring).join(""))
  ]
}

const shell = (random) => {
  const rounds = 3.3
  const growth = between(random, 0.172, 0.182)
  const from = between(random, 0.5, 0.8)
  const size = (u) => 372 * Math.exp(growth * (u - 1) * rounds * turn)
  const middle = (u) => {
    const [x, y] = polar(from - u * rounds * turn, size(u))
    return [x - 60, y + 120]
  }
  const thickness = (u) => size(u) * (0.44 + 0.016 * Math.cos(u * rounds * turn * 11))
  /* Lines at even distances: the tube grows, so the way along it has to be walked in its logarithm. */
  const start = Math.exp(-growth * rounds * turn)
  const walked = (u) => 1 + Math.log(start + (1 - start) * u) / (growth * rounds * turn)
  const solid = tube(
    (u) => middle(walked(u)),
    (u) => thickness(walked(u)),
    { lines: 210, breadth: 10 }
  )
  return [mask(solid.mask), ink(solid.ink), ...mouth(middle, thickness(1), 0.3)]
}

const serpent = (random) => {
  const sway = between(random, 150, 165)
  const middle = (u) => [-30 + sway * Math.sin(u * turn * 1.75 + 0.9) * (0.55 + 0.75 * u), -400 + 800 * u]
  const thickness = (u) => 13 + 52 * u ** 1.1 + 26 * u ** 12
  const solid = tube(middle, thickness, { lines: 200, breadth: 7 })
  const holes = [0.34, 0.4, 0.46, 0.62, 0.68, 0.74]
  const crook = cut(
    steps(40, (_, part) => {
      const [x, y] = middle(0)
      return [x - 150 * Math.sin(part * 1.5), y - 46 * Math.sin(part * 2.2)]
    }),
    steps(40, (_, part) => 14 - 6 * part)
  )
  return [
    mask(solid.mask),
    ink(solid.ink),
    accent(crook),
    mask(holes.map((u) => disc(...middle(u), 9 + 10 * u)).join("")),
    accent(holes.map((u) => disc(...middle(u), 5 + 8 * u)).join("")),
    ...mouth(middle, thickness(1), 0.34)
  ]
}

/** A band of threads that weave between an inner and an outer edge, both edges swaying, as on a banknote. */
const guilloche = (inner, outer, { sway, threads, waves }) => {
  const middle = (inner + outer) / 2
  const half = (outer - inner) / 2
  return steps(threads, (_, part) =>
    polarCurve(
      (angle) =>
        middle + half * (0.74 + 0.26 * Math.cos(sway * angle)) * Math.sin(waves * angle + part * turn),
      1,
      540
    )
  ).join("")
}

const rosette = (random) => {
  const sway = whole(random, 8, 14)
  const waves = whole(random, 3, 5)
  const edge = sway * 4
  return [
    mask(polarCurve(() => 448)),
    line(guilloche(206, 408, { sway, waves: waves + 2, threads: 30 })),
    accentLine(guilloche(120, 226, { sway, waves, threads: 18 })),
    mask(polarCurve(() => 120)),
    line(guilloche(16, 112, { sway: Math.ceil(sway / 2), waves: waves + 1, threads: 14 })),
    line(
      steps(9, (_, part) =>
        polarCurve((angle) => 426 + 10 * Math.sin(edge * angle + part * turn), 1, 1200)
      ).join("")
    ),
    line(polarCurve(() => 440) + polarCurve(() => 446))
  ]
}

const ticks = (count, inner, outer, breadth, keep = () => true) =>
  steps(count, (index, part) =>
    keep(index) ? cut([polar(part * turn, inner), polar(part * turn, outer)], [breadth, breadth]) : ""
  ).join("")

const dial = (random) => {
  const major = [8, 12, 16][whole(random, 0, 2)]
  const minor = major * 10
  const waves = whole(random, 8, 14)
  const pointing = random() * turn
  const hand = cut(
    [polar(pointing + Math.PI, 110), polar(pointing + Math.PI, 40), [0, 0], polar(pointing, 330)],
    [26, 8, 14, 2]
  )
  const setting = pointing + between(random, 0.3, 1.1)
  return [
    mask(polarCurve(() => 440)),
    line(steps(6, (index) => polarCurve(() => 440 - index * 5)).join("")),
    ink(ticks(minor, 372, 398, 2.2) + ticks(major * 2, 352, 398, 3.4) + ticks(major, 330, 404, 8)),
    line(polarCurve(() => 404) + polarCurve(() => 372)),
    line(guilloche(150, 312, { sway: waves, waves: 5, threads: 22 })),
    accentLine(guilloche(74, 160, { sway: waves, waves: 3, threads: 12 })),
    mask(polarCurve(() => 58)),
    line(steps(6, (index) => polarCurve(() => 58 - index * 7)).join("")),
    ink(cut([polar(setting, 0), polar(setting, 300)], [4, 4]) + disc(...polar(setting, 300), 9)),
    accent(hand + disc(0, 0, 18))
  ]
}

const lens = (random) => {
  const rings = whole(random, 11, 13)
  const bullseye = 120
  const prisms = steps(rings, (index) => {
    const inner = bullseye + ((430 - bullseye) * index) / rings
    const outer = bullseye + ((430 - bullseye) * (index + 1)) / rings
    return steps(6, (cutIndex, part) => {
      const radius = inner + (outer - inner) * part
      const points = steps(181, (at) => polar((at / 180) * turn, radius))
      return cut(
        points,
        points.map((_, at) => {
          const shine = 0.5 + 0.5 * Math.cos(2 * ((at / 180) * turn - 0.9) + index * 0.34)
          return 0.5 + 4.1 * shine ** 2 * (1 - cutIndex / 6)
        })
      )
    }).join("")
  })
  return [
    mask(polarCurve(() => 440)),
    ink(prisms.join("")),
    ink(
      steps(13, (index) => {
        const radius = 8 + index * 8
        const points = steps(121, (at) => polar((at / 120) * turn, radius))
        return cut(
          points,
          points.map((_, at) => 0.6 + 5 * (0.5 + 0.5 * Math.cos((at / 120) * turn + 2.3)) ** 2)
        )
      }).join("")
    ),
    accentLine(polarCurve(() => 440) + polarCurve(() => 448) + polarCurve(() => bullseye - 4)),
    accent(disc(0, 0, 10))
  ]
}

/** Level lines that rise over hidden hills, each hiding what lies behind it. */
const tide = (random) => {
  const reach = 430
  const hills = steps(9, () => ({
    x: between(random, -0.6, 0.6),
    y: between(random, -0.7, 0.9),
    wide: between(random, 0.1, 0.3),
    high: between(random, 50, 135)
  }))
  const swell = random() * turn
  const rows = 44
  return steps(rows, (index) => {
    const level = -0.86 + (1.8 * index) / rows
    const half = Math.sqrt(Math.max(0.02, 1 - level * level))
    const points = steps(141, (at) => {
      const x = -half + (2 * half * at) / 140
      const fade = Math.max(0, 1 - (x / half) ** 2)
      const rise = hills.reduce(
        (sum, hill) =>
          sum + hill.high * Math.exp(-(((x - hill.x) / hill.wide) ** 2) - ((level - hill.y) / 0.22) ** 2),
        0
      )
      const ripple = 5 * Math.sin(x * 26 + level * 40 + swell) * Math.sin(x * 7 + level * 13)
      return [x * reach, level * reach - fade * (rise + ripple)]
    })
    const breadths = points.map(([, y], at) => {
      const slope = y - (points[at + 1]?.[1] ?? y)
      return Math.min(8, Math.max(1, 3 + 1.1 * slope))
    })
    const path = cut(points, breadths)
    return [
      mask(
        `${openLine([...points, [half * reach, level * reach + 24], [-half * reach, level * reach + 24]])}Z`
      ),
      index === Math.floor(rows * 0.55) ? accent(path) : ink(path)
    ]
  }).flat()
}

const weave = (random) => {
  const reach = 432
  const strands = 16
  const pitch = (2 * reach) / strands
  const mesh = between(random, 84, 100)
  const sag = between(random, 60, 110)
  const hang = (x, y) => [x, y + sag * (1 - (x / reach) ** 2) - sag / 2]
  const inside = ([x, y]) => Math.hypot(x, y) < reach
  const rows = Math.ceil(1200 / mesh)

  const strand = (index) => {
    const side = index % 2 === 0 ? 1 : -1
    const runs = [[]]
    for (let at = 0; at <= 400; at++) {
      const y = -600 + 3 * at
      const swing = Math.cos((y / mesh) * Math.PI)
      const x = -reach + (index + 0.5) * pitch + (side * swing * pitch) / 2
      const point = hang(x, y)
      if (inside(point)) {
        runs.at(-1).push(point)
      } else if (runs.at(-1).length > 0) {
        runs.push([])
      }
    }
    return runs
      .filter((run) => run.length > 1)
      .map((run) =>
        cut(
          run,
          run.map(([x, y]) => 2.2 + 6 * Math.max(0, 0.42 - (x + y) / (3 * reach)))
        )
      )
      .join("")
  }

  const knots = steps(rows * (strands - 1), (at) => {
    const column = 1 + (at % (strands - 1))
    const row = Math.floor(at / (strands - 1)) - Math.floor(rows / 2)
    return (column + row) % 2 === 0 ? null : hang(-reach + column * pitch, row * mesh)
  }).filter((point) => point !== null && inside(point))
  const marked = knots[whole(random, 0, knots.length - 1)]

  return [
    mask(polarCurve(() => 444)),
    ink(steps(strands, strand).join("")),
    ink(knots.map(([x, y]) => disc(x, y, 8)).join("")),
    mask(disc(...marked, 22)),
    accent(disc(...marked, 15)),
    line(polarCurve(() => 444) + polarCurve(() => 451))
  ]
}

/** The lines of rest on a sounding plate, where the sand gathers. */
const sound = (random) => {
  const pairs = [
    [3, 5],
    [2, 5],
    [4, 7],
    [3, 7]
  ]
  const [many, few] = pairs[whole(random, 0, pairs.length - 1)]
  const wave = (x, y) =>
    Math.cos(many * Math.PI * x * 0.72) * Math.cos(few * Math.PI * y * 0.72) +
    Math.cos(few * Math.PI * x * 0.72) * Math.cos(many * Math.PI * y * 0.72)
  const tone = (x, y) => Math.exp(-((wave(x, y) / 0.34) ** 2))
  return [
    mask(polarCurve(() => 440)),
    ink(engraveTone(tone, { lines: 96, radius: 424, samples: 240 })),
    accentLine(polarCurve(() => 436) + polarCurve(() => 444)),
    accent(disc(0, 0, 9))
  ]
}

const stars = (random) => {
  const sky = steps(150, () => {
    const [x, y] = polar(random() * turn, 392 * Math.sqrt(random()))
    return { x, y, size: 1.6 + 6.5 * random() ** 4 }
  })
  const bright = sky.filter(({ size }) => size > 3.2).sort((a, b) => a.x - b.x)
  const neighbour = (star) =>
    bright
      .filter((other) => other.x > star.x)
      .sort((a, b) => Math.hypot(a.x - star.x, a.y - star.y) - Math.hypot(b.x - star.x, b.y - star.y))[0]
  const figureLines = bright.flatMap((star) => {
    const other = neighbour(star)
    return other !== undefined && Math.hypot(other.x - star.x, other.y - star.y) < 190
      ? [
          openLine([
            [star.x, star.y],
            [other.x, other.y]
          ])
        ]
      : []
  })
  const found = bright[whole(random, 0, bright.length - 1)] ?? sky[0]
  const pole = polar(random() * turn, 60)
  return [
    mask(polarCurve(() => 440)),
    line(
      steps(12, (_, part) => openLine([polar(part * turn + 0.1, 60), polar(part * turn + 0.1, 404)])).join(
        ""
      ) +
        steps(6, (index) => polarCurve(() => 60 + index * 69)).join("") +
        polarCurve((angle) => 262 + pole[0] * Math.cos(angle) + pole[1] * Math.sin(angle))
    ),
    ink(ticks(72, 404, 424, 2.4) + ticks(24, 404, 436, 4)),
    line(polarCurve(() => 404) + polarCurve(() => 440) + polarCurve(() => 447)),
    accentLine(figureLines.join("")),
    mask(sky.map(({ size, x, y }) => disc(x, y, size + 4)).join("")),
    ink(sky.map(({ size, x, y }) => disc(x, y, size)).join("")),
    accent(disc(found.x, found.y, found.size + 5))
  ]
}

export const figures = {
  bell,
  bottle,
  cylinder,
  dial,
  globe,
  jar,
  lens,
  mould,
  rosette,
  serpent,
  shell,
  sound,
  stars,
  stone,
  tide,
  tin,
  weave
}

/** The rings of fine waves that every figure stands on, reaching beyond the drawing. */
export const aura = (random) => {
  const sway = whole(random, 9, 15)
  const waves = whole(random, 4, 7)
  return (
    guilloche(470, 690, { sway, waves, threads: 26 }) +
    guilloche(660, 960, { sway, waves: waves + 3, threads: 30 })
  )
}
