import { describe, expect, it } from "@effect/vitest"
import { pipePath } from "../../src/internal/socketFile.ts"

describe("the named pipe of a folder", () => {
  it("is the same however the letters of the folder are written, as the folder is", () => {
    const pipe = pipePath("C:\\Exhibit\\downloads")
    expect(pipe).toMatch(/^\\\\\.\\pipe\\vitrine-[0-9a-f]{16}$/)
    expect(pipePath("c:\\EXHIBIT\\Downloads")).toBe(pipe)
    expect(pipePath("c:\\exhibit2\\downloads")).not.toBe(pipe)
  })
})
