/**
 * The engraver's tools: lines that swell and thin like cut ones, solids shaded by nothing but such lines, and chance
 * that always falls the same way for the same name. Lengths are in the units of a drawing 1000 wide, centred on 0.
 * What is drawn with them stands in `figures.js`.
 */

export const turn = 2 * Math.PI

const format = (value) => value.toFixed(1)

/** A source of numbers in [0, 1) that is the same for the same text. */
export const chance = (text) => {
  let state = 2166136261
  for (const character of text) {
    state = Math.imul(state ^ character.codePointAt(0), 16777619)
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const steps = (count, each) => Array.from({ length: count }, (_, index) => each(index, index / count))

const polygon = (points) => `M${points.map(([x, y]) => `${format(x)} ${format(y)}`).join("L")}Z`

export const openLine = (points) => `M${points.map(([x, y]) => `${format(x)} ${format(y)}`).join("L")}`

/** A closed curve in polar form, `radius` being a function of the angle. */
export const polarCurve = (radius, turns = 1, pointsPerTurn = 360) =>
  polygon(
    steps(turns * pointsPerTurn, (_, part) => {
      const angle = part * turns * turn
      return [radius(angle) * Math.cos(angle), radius(angle) * Math.sin(angle)]
    })
  )

export const disc = (x, y, radius) =>
  `M${format(x - radius)} ${format(y)}a${format(radius)} ${format(radius)} 0 1 0 ${format(2 * radius)} 0` +
  `a${format(radius)} ${format(radius)} 0 1 0 ${format(-2 * radius)} 0Z`

/** A line along the points whose breadth at each of them is given: the mark of a burin. */
export const cut = (points, breadths) => {
  const near = []
  const far = []
  for (const [index, [x, y]] of points.entries()) {
    const [fromX, fromY] = points[Math.max(0, index - 1)]
    const [toX, toY] = points[Math.min(points.length - 1, index + 1)]
    const length = Math.hypot(toX - fromX, toY - fromY) || 1
    const half = breadths[index] / 2
    const acrossX = (-(toY - fromY) / length) * half
    const acrossY = ((toX - fromX) / length) * half
    near.push([x + acrossX, y + acrossY])
    far.push([x - acrossX, y - acrossY])
  }
  return polygon([...near, ...far.reverse()])
}

const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

const unit = (vector) => {
  const length = Math.hypot(...vector) || 1
  return vector.map((part) => part / length)
}

const light = unit([-0.62, -0.55, 0.62])

/** Seen from a little above: what turns a flat profile into a body. */
const tilted = (tilt, [x, y, z]) => [
  x,
  y * Math.cos(tilt) + z * Math.sin(tilt),
  z * Math.cos(tilt) - y * Math.sin(tilt)
]

/**
 * Engraves a solid: one line for each step of `u`, running along `v`, broad in the light and thin in the shade, and
 * left out where the surface turns away. `surface(u, v)` gives [x, y, z], y down and z towards the viewer; u and v
 * go from 0 to 1, and going round in v must show the outside.
 *
 * Returns `{ ink, mask }`: the lines, and the area they cover, which hides what lies behind.
 */
export const engraveSolid = (surface, { breadth, lines, samples = 96, tilt = 0.3 }) => {
  const at = (u, v) => tilted(tilt, surface(u, v))
  const nudge = 1e-3
  let ink = ""
  let mask = ""

  const sample = (u, v) => {
    const point = at(u, v)
    const inward = u > 0.5 ? -nudge : nudge
    const alongU = subtract(at(u + inward, v), point).map((part) => part / inward)
    const alongV = subtract(at(u, v + nudge), point).map((part) => part / nudge)
    const normal = unit(cross(alongU, alongV))
    const brightness = Math.max(0, normal[0] * light[0] + normal[1] * light[1] + normal[2] * light[2])
    return { point, visible: normal[2] > -0.02, breadth: breadth * (0.1 + 0.9 * brightness ** 1.3) }
  }

  const rows = steps(lines, (index) =>
    steps(samples + 1, (column) => sample(index / (lines - 1), column / samples))
  )

  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1] ?? row
    let run = []
    const finish = (end) => {
      if (run.length > 1) {
        const points = run.map(({ point }) => point)
        const following = next.slice(end - run.length, end).map(({ point }) => point)
        ink += cut(
          points,
          run.map((each) => each.breadth)
        )
        mask += polygon([...points, ...following.reverse()])
      }
      run = []
    }
    for (const [column, each] of row.entries()) {
      if (each.visible) {
        run.push(each)
      } else {
        finish(column)
      }
    }
    finish(row.length)
  }
  return { ink, mask }
}

/**
 * Engraves a tone: level lines across a disc of `radius`, their breadth following `tone(x, y)`, which is between 0
 * and 1 and gets x and y between -1 and 1.
 */
export const engraveTone = (tone, { lines, radius, samples = 180 }) => {
  const gap = (2 * radius) / lines
  return steps(lines, (index) => {
    const y = -radius + (index + 0.5) * gap
    const reach = Math.sqrt(radius * radius - y * y)
    const points = steps(samples + 1, (column) => [-reach + (2 * reach * column) / samples, y])
    return cut(
      points,
      points.map(([x]) => gap * (0.06 + 0.86 * tone(x / radius, y / radius)))
    )
  }).join("")
}
