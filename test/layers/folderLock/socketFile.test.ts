import { describe, expect, it } from "@effect/vitest"
import { pipePath } from "../../../src/layers/folderLock/socketFile.ts"

describe("the named pipe of a folder", () => {
  it("does not depend on the letter case of the folder's path", () => {
    const pipe = pipePath("C:\\Exhibit\\downloads")
    expect(pipe).toMatch(/^\\\\\.\\pipe\\vitrine-[0-9a-f]{16}$/)
    expect(pipePath("c:\\EXHIBIT\\Downloads")).toBe(pipe)
    expect(pipePath("c:\\exhibit2\\downloads")).not.toBe(pipe)
  })
})
