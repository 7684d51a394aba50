import { symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { win32 } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { controllerPaths, locateController } from "../../../src/layers/ipc/socketPath.ts"
import { scenario, temporaryFolder } from "./ipc.ts"

const linux = { platform: "linux", temporary: "/tmp" } as const
const mac = { platform: "darwin", temporary: "/tmp" } as const
const windows = { platform: "win32", temporary: "C:\\Temp" } as const

/** A folder whose socket has a path of so many bytes. */
const folderFor = (socketBytes: number) => `/${"x".repeat(socketBytes - "//.vitrine/controller.sock".length)}`

describe("controllerPaths", () => {
  it("are beside the configuration", () => {
    expect(controllerPaths("/srv/exhibit", linux)).toEqual({
      folder: "/srv/exhibit/.vitrine",
      socket: "/srv/exhibit/.vitrine/controller.sock",
      pidFile: "/srv/exhibit/.vitrine/controller.pid"
    })
  })

  it.each([
    ["linux", linux, 107],
    ["darwin", mac, 103]
  ])(
    "have a socket among the temporary files where it would be too long for %s",
    (_, surroundings, longest) => {
      const beside = controllerPaths(folderFor(longest), surroundings)
      expect(beside.socket).toHaveLength(longest)
      const { folder, pidFile, socket } = controllerPaths(folderFor(longest + 1), surroundings)
      expect(socket).toMatch(/^\/tmp\/vitrine-[0-9a-f]{16}\/controller\.sock$/)
      expect(folder).toBe(`${folderFor(longest + 1)}/.vitrine`)
      expect(pidFile).toBe(`${folder}/controller.pid`)
    }
  )

  it("count bytes, not characters", () => {
    const folder = `/${"\u00e9".repeat(60)}`
    expect(controllerPaths(folder, linux).socket).toMatch(/^\/tmp\//)
  })

  it("never have a socket that is too long, nor the same for two folders", () => {
    const path = FastCheck.array(FastCheck.stringMatching(/^[a-z\u00e0-\u00ff ]{1,40}$/), {
      maxLength: 8
    }).map((names) => `/${names.join("/")}`)
    FastCheck.assert(
      FastCheck.property(path, path, (one, other) => {
        const [a, b] = [controllerPaths(one, mac), controllerPaths(other, mac)]
        expect(Buffer.byteLength(a.socket)).toBeLessThanOrEqual(103)
        expect(a.socket === b.socket).toBe(one === other)
      })
    )
  })

  it("are a named pipe on Windows, the same however the letters of the folder are written", () => {
    const { pidFile, socket } = controllerPaths("C:\\Exhibit", windows)
    expect(socket).toMatch(/^\\\\\.\\pipe\\vitrine-[0-9a-f]{16}$/)
    expect(pidFile).toBe("C:\\Exhibit\\.vitrine\\controller.pid")
    expect(controllerPaths("c:\\EXHIBIT\\", windows).socket).toBe(socket)
    expect(controllerPaths("c:/exhibit", windows).socket).toBe(socket)
    expect(controllerPaths("c:\\exhibit2", windows).socket).not.toBe(socket)
    expect(win32.isAbsolute(socket)).toBe(true)
  })
})

describe("locateController", () => {
  scenario(
    "finds the same place by a link to the folder",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const linked = `${yield* temporaryFolder}/link`
      yield* Effect.promise(() => symlink(folder, linked))
      const paths = yield* locateController(linked)
      expect(paths).toEqual(controllerPaths(folder, { platform: process.platform, temporary: tmpdir() }))
    })
  )
})
