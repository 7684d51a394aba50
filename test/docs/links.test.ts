/**
 * Links lead to files and headings that are there, and so do the references of the source to the documentation.
 */
import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { anchorsOf, below, codeIn, linksOf, pages, proseOf, read, repository } from "../support/documents.ts"

describe("the documentation", () => {
  it.each(pages)("has no broken links: %s", (page) => {
    const broken = linksOf(page).filter((link) => {
      const [path = "", anchor] = link.split("#")
      const target = path === "" ? page : join(dirname(page), path)
      return (
        !existsSync(join(repository, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
      )
    })
    expect(broken).toEqual([])
  })

  it("is linked from the README, directly or through other pages", () => {
    const reached = new Set(["README.md"])
    for (const page of reached) {
      for (const link of linksOf(page)) {
        const target = join(dirname(page), link.split("#")[0] ?? "")
        if (target.endsWith(".md") && existsSync(join(repository, target))) reached.add(target)
      }
    }
    expect([...reached].sort()).toEqual([...pages].sort())
  })

  it("names existing files, and every folder of the source", () => {
    const files = [
      ...readdirSync(repository).map((file) => `/${file}`),
      ...["src", "test", "docs", "scratchpad", "templates"].flatMap((folder) =>
        readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).map(
          (file) => `/${folder}/${file}`
        )
      )
    ]
    const named = pages
      .flatMap((page) => codeIn(proseOf(page)))
      .filter((code) => /^[\w/.-]+\.(cs|ts)$/.test(code) && !/^vitrine\.(config|d)/.test(code))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !files.some((file) => file.endsWith(`/${name}`)))).toEqual([])

    const tree = below("## The tree", read("ARCHITECTURE.md"))
    const folders = readdirSync(join(repository, "src/layers"))
    expect(folders.filter((folder) => !tree.includes(`\`${folder}/\``))).toEqual([])
  })

  it("begins with a README of 120 lines at most", () => {
    expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(120)
  })

  it("has every section of the wire that the source refers to", () => {
    const source = readdirSync(`${repository}/src`, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => read(`src/${file}`))
      .join("\n")
    const referred = [...source.matchAll(/docs\/wire\.md`?, sections? ([\d., and to*\n]+)/g)].flatMap(
      ([, numbers = ""]) => numbers.match(/\d+(\.\d+)?/g) ?? []
    )
    expect(referred.length).toBeGreaterThan(10)
    const sections = [...read("docs/wire.md").matchAll(/^##+ (\d+(?:\.\d+)?)\.? /gm)].map(
      ([, number]) => number
    )
    expect(sections).toEqual(expect.arrayContaining(referred))
  })
})
