import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { type FakeContent, fake } from "../../../src/layers/client/fake.ts"

const contentOf = (title: string) => ({ exhibits: { Objects: [{ id: "1", title }] } })

beforeEach(() => {
  vi.spyOn(console, "warn").mockReturnValue()
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** A page that shows titles, or fails on request, before a fake controller. */
const open = (content: FakeContent = contentOf("Bell"), canSwap = () => true) => {
  const controls = fake(content)
  const shown: Array<string> = []
  const exhibit = controls.connect({
    canSwap,
    load: async (version) => {
      const objects = await version.table("exhibits", "Objects")
      const titles = objects.map(({ title }) => title).join()
      if (titles === "Broken") {
        throw new Error("broken")
      }
      if (titles === "Silent") {
        version.problem("no sound")
      }
      return titles
    },
    show: (titles, { id }) => shown.push(`${id.slice(-3)} ${titles}`)
  })
  return { ...controls, exhibit, shown }
}

describe("a page with the fake controller", () => {
  it("shows the first version and each that is promoted, once `connect` has returned", async () => {
    const { exhibit, promote, settled, shown } = open()
    expect(exhibit.state).toEqual({ connection: "live", isCached: false })
    await settled()
    expect(exhibit.state).toMatchObject({ shown: "Bell", version: { id: "20260101T000000Z" } })
    await promote(contentOf("Globe"))
    expect(shown).toEqual(["00Z Bell", "01Z Globe"])
    expect(exhibit.state.next).toBeUndefined()
  })

  it("is settled when it is closed while canSwap defers a version", async () => {
    let isFree = true
    const { exhibit, promote, settled, shown } = open(contentOf("Bell"), () => isFree)
    await settled()
    isFree = false
    const promoted = promote(contentOf("Globe"))
    exhibit.close()
    await promoted
    expect(shown).toEqual(["00Z Bell"])
  })

  it("keeps its version if the next one fails or it is offline, and has the reason", async () => {
    const { exhibit, promote, setConnection, settled, shown } = open()
    await settled()
    await promote(contentOf("Broken"))
    expect(exhibit.state).toMatchObject({
      next: "20260101T000001Z",
      problem: "Version 20260101T000001Z cannot be shown: broken",
      shown: "Bell"
    })
    await promote(contentOf("Silent"))
    expect(exhibit.state.problem).toBe("no sound")
    setConnection("offline")
    expect(exhibit.state).toMatchObject({
      connection: "offline",
      problem: "The content cannot be reached: it is offline"
    })
    await promote(contentOf("Globe"))
    expect(shown.at(-1)).toBe("02Z Silent")
    setConnection("polling")
    await settled()
    expect(shown.at(-1)).toBe("03Z Globe")
    expect(exhibit.state).toMatchObject({ connection: "polling", shown: "Globe", problem: undefined })
  })

  it("waits for canSwap, calls its listeners, and calls none after close()", async () => {
    let isFree = false
    const { exhibit, promote, settled, shown } = open(contentOf("Bell"), () => isFree)
    await settled()
    let changes = 0
    exhibit.subscribe(() => changes++)
    const promoted = promote(contentOf("Globe"))
    expect(exhibit.state).toMatchObject({ next: "20260101T000001Z", shown: "Bell" })
    isFree = true
    await promoted
    expect(changes).toBe(2)
    exhibit.close()
    await promote(contentOf("Lens"))
    expect(shown.map((text) => text.slice(4))).toEqual(["Bell", "Globe"])
  })

  it("has its own copies of tables, addresses of files, and names a missing table", async () => {
    const content = contentOf("Bell")
    const { connect, settled } = fake(content)
    const failures: Array<string> = []
    const exhibit = connect({
      load: async (version) => {
        const table = await version.table<Array<{ title: string }>>("exhibits", "Objects")
        table.push({ title: "mine" })
        await version.table("exhibits", "Gone").catch(({ message }) => failures.push(message))
        return version.url("exhibits", "größer.jpg")
      }
    })
    await settled()
    expect(exhibit.state.shown).toBe("/versions/20260101T000000Z/exhibits/gr%C3%B6%C3%9Fer.jpg")
    expect(content).toEqual(contentOf("Bell"))
    expect(failures).toEqual(['there is no table "Gone" in "exhibits"'])
  })
})
