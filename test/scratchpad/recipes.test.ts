/**
 * The recipes of docs: what they make of documents that anybody may have written.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { markdown } from "../../scratchpad/recipes/markdown.ts"
import { portableText } from "../../scratchpad/recipes/portableText.ts"
import { source } from "../../src/index.ts"
import { language } from "../../src/layers/client/helpers/language.ts"
import * as HttpClientNode from "../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../src/layers/memory/RequestPacingMemory.ts"

describe("Markdown", () => {
  const htmlOf = (text: string) => markdown("text")([{ text }])

  it.each([
    ["**A** *B* ~~C~~", "<p><strong>A</strong> <em>B</em> <del>C</del></p>\n"],
    ["> quoted, a < b & c", "<blockquote>\n<p>quoted, a &lt; b &amp; c</p>\n</blockquote>\n"],
    ["![bell](bell.jpg)", '<p><img src="bell.jpg" alt="bell" /></p>\n'],
    [
      "[here](https://museum.example/a?b=1&c=2)",
      '<p><a href="https://museum.example/a?b=1&amp;c=2">here</a></p>\n'
    ],
    ["| a |\n| - |\n| 1 |", expect.stringContaining("<td>1</td>")]
  ])("%j becomes HTML", (text, textHtml) => {
    expect(htmlOf(text)).toEqual([{ text, textHtml }])
  })

  it.each([
    "<script>alert(1)</script>",
    '<img src="x" onerror="alert(1)">',
    "[go](javascript:alert(1))",
    "[go](java\tscript:alert(1))",
    "![x](data:text/html;base64,PHNjcmlwdD4=)",
    '<iframe src="https://elsewhere.example"></iframe>',
    '<p style="position: fixed">over all</p>',
    '<svg><a xlink:href="javascript:alert(1)">x</a></svg>'
  ])("%j does nothing in a page", (text) => {
    expect(JSON.stringify(markdown("text")({ text })).replace(JSON.stringify(text), "")).not.toMatch(
      /<script|onerror=|href=\\"java|src=\\"data|<iframe|style=|<svg/i
    )
  })

  it("has the language at the end of its name, for the client to choose it", () => {
    const rows = [{ id: "1", text: "*A*", text_de: "*B*", "text_de-AT": "*C*", wall_text: "*D*" }]
    const [row] = [markdown("text", "text_de", "text_de-AT", "wall_text")(rows)].flat()
    expect(row).toMatchObject({
      "textHtml_de-AT": "<p><em>C</em></p>\n",
      wall_textHtml: "<p><em>D</em></p>\n"
    })
    const textHtml = (...languages: ReadonlyArray<string>) => language(row, ...languages)
    expect(textHtml("de")).toMatchObject({ text: "*B*", textHtml: "<p><em>B</em></p>\n" })
    expect(textHtml("en", "de")).toMatchObject({ text: "*A*", textHtml: "<p><em>A</em></p>\n" })
  })

  it("does not change other fields and values that are not texts", () => {
    const document = [{ text: null, title: "*A*" }, { text: 1 }, "text", null, {}]
    expect(markdown("text")(document)).toEqual(document)
  })
})

describe("Portable Text", () => {
  const span = (text: string, ...marks: ReadonlyArray<string>) => ({ _type: "span", text, marks })
  const block = (children: ReadonlyArray<object>, more: object = {}) => ({
    _type: "block",
    style: "normal",
    markDefs: [],
    children,
    ...more
  })
  const htmlOf = (...text: ReadonlyArray<object>) => {
    const made = portableText("text")({ text })
    return typeof made === "object" && made !== null && "textHtml" in made ? made.textHtml : undefined
  }

  it("becomes HTML: headings, marks, links, lists", () => {
    const link = { _type: "link", _key: "k1", href: "https://museum.example/" }
    expect(
      htmlOf(
        block([span("Bells")], { style: "h2" }),
        block([span("a < b "), span("strong", "strong"), span(" link", "k1")], { markDefs: [link] }),
        block([span("one")], { listItem: "bullet", level: 1 }),
        block([span("two")], { listItem: "bullet", level: 1 })
      )
    ).toBe(
      '<h2>Bells</h2><p>a &lt; b <strong>strong</strong><a href="https://museum.example/"> link</a></p>' +
        "<ul><li>one</li><li>two</li></ul>"
    )
  })

  it("runs nothing in a page", () => {
    const link = { _type: "link", _key: "k1", href: "javascript:alert(1)" }
    expect(htmlOf(block([span("<script>alert(1)</script>", "k1")], { markDefs: [link] }))).toBe(
      "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"
    )
  })

  it("leaves out everything but text, without a warning", () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue()
    expect(
      htmlOf({ _type: "image", asset: {} }, block([span("A"), { _type: "price" }, span("B", "odd")]))
    ).toBe("<p>A<span>B</span></p>")
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })

  it("does not change other values and fields", () => {
    const document = [{ text: "plain" }, { title: [] }, null]
    expect(portableText("text")(document)).toEqual(document)
  })
})

it.scoped("both are steps of a source", () =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    const { fetch } = yield* source({
      id: "magazine",
      fetch: () => ({ articles: [{ id: 1, text: "*A*", story: [] }] }),
      steps: [markdown("text"), portableText("story")]
    }).make
    yield* fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    expect(JSON.parse(yield* fileSystem.readFileString(`${directory}/articles.json`))).toEqual([
      { id: 1, story: [], storyHtml: "", text: "*A*", textHtml: "<p><em>A</em></p>\n" }
    ])
  }).pipe(Effect.provide(Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)))
)
