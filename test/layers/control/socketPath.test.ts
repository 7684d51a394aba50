import { mkdir, symlink } from "node:fs/promises"
import { win32 } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { controllerPaths } from "../../../src/layers/control/controllerPaths.ts"
import { locateController } from "../../../src/layers/control/runFolder.ts"
import { scenario, temporaryFolder } from "../../support/control.ts"

/** A folder whose socket has a path of this many bytes. */
const folderFor = (socketBytes: number) => `/srv/${"x".repeat(socketBytes - "/srv//controller.sock".length)}`

describe("controllerPaths", () => {
  it("are in the folder", () => {
    expect(controllerPaths("/srv/exhibit/.vitrine", "linux")).toEqual({
      folder: "/srv/exhibit/.vitrine",
      socket: "/srv/exhibit/.vitrine/controller.sock",
      pidFile: "/srv/exhibit/.vitrine/controller.pid"
    })
  })

  it("are in the folder on Linux, however long its path is", () => {
    const folder = folderFor(300)
    expect(controllerPaths(folder, "linux").socket).toBe(`${folder}/controller.sock`)
  })

  it("have a socket in the nearest parent that is short enough on a Mac if the path would be too long", () => {
    expect(controllerPaths(folderFor(103), "darwin").socket).toBe(`${folderFor(103)}/controller.sock`)
    const { folder, pidFile, socket } = controllerPaths(folderFor(104), "darwin")
    expect(socket).toMatch(/^\/srv\/\.vitrine-[0-9a-f]{16}-controller\.sock$/)
    expect([folder, pidFile]).toEqual([folderFor(104), `${folderFor(104)}/controller.pid`])
  })

  it("count bytes, not characters", () => {
    const folder = `/${"\u00e9".repeat(60)}`
    expect(controllerPaths(folder, "darwin").socket).toMatch(/^\/\.vitrine-/)
  })

  it("never have a path that is too long, nor the same for two folders", () => {
    const path = FastCheck.array(FastCheck.stringMatching(/^[a-z\u00e0-\u00ff ]{1,40}$/), {
      maxLength: 8
    }).map((names) => `/${names.join("/")}`)
    FastCheck.assert(
      FastCheck.property(path, path, (one, other) => {
        const [a, b] = [controllerPaths(one, "darwin"), controllerPaths(other, "darwin")]
        expect(Buffer.byteLength(a.socket)).toBeLessThanOrEqual(103)
        expect(a.socket === b.socket).toBe(one === other)
      })
    )
  })

  it("are a named pipe on Windows, which does not depend on letter case", () => {
    const { pidFile, socket } = controllerPaths("C:\\Exhibit\\.vitrine", "win32")
    expect(socket).toMatch(/^\\\\\.\\pipe\\vitrine-[0-9a-f]{16}$/)
    expect(pidFile).toBe("C:\\Exhibit\\.vitrine\\controller.pid")
    expect(controllerPaths("c:\\EXHIBIT\\.Vitrine\\", "win32").socket).toBe(socket)
    expect(controllerPaths("c:/exhibit/.vitrine", "win32").socket).toBe(socket)
    expect(controllerPaths("c:\\exhibit2\\.vitrine", "win32").socket).not.toBe(socket)
    expect(win32.isAbsolute(socket)).toBe(true)
  })
})

describe("locateController", () => {
  scenario(
    "finds the same paths by a symbolic link to the folder",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const linked = `${yield* temporaryFolder}/link`
      yield* Effect.promise(() => symlink(folder, linked))
      const paths = yield* locateController(linked)
      expect(paths).toEqual(controllerPaths(`${folder}/.vitrine`, process.platform))
    })
  )

  scenario(
    "finds the same paths before and after the folder of the option is made",
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const linked = `${yield* temporaryFolder}/link`
      yield* Effect.promise(() => symlink(folder, linked))
      const before = yield* locateController("/any", `${linked}/run`)
      expect(before.folder).toBe(`${folder}/run`)
      yield* Effect.promise(() => mkdir(`${folder}/run`))
      expect(yield* locateController("/other", `${folder}/run/`)).toEqual(before)
    })
  )
})
