/**
 * Projects as `npm create vite` makes them, with the packed package and the plugin: their compilers, their dev server with the
 * Vite of today in a real browser, and their build.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { inject } from "vitest"
import { Browser, openTab } from "../support/browser.ts"
import { freePort } from "../support/freePort.ts"
import { Packed } from "../support/packed.ts"
import { isMissing } from "../support/programs.ts"
import { evaluate, waitFor } from "../support/stage.ts"
import { savedAgain } from "../support/vite.ts"
import { eventually } from "../support/waiting.ts"

const installed = inject("vendors")["create-vite-9.3.0"]

interface Template {
  /** The file that shows the content, and is edited. */
  readonly file: string
  readonly text: string
  /** The plugin of the framework, where there is one, and its import. */
  readonly framework?: readonly [call: string, line: string]
  /** The scripts that hold its types and make its build. */
  readonly scripts: ReadonlyArray<string>
}

const load = 'load: (version) => version.table("exhibits", "Objects")'

const templates: Readonly<Record<string, Template>> = {
  "react-ts": {
    framework: ["react(), ", "import react from '@vitejs/plugin-react'\n"],
    scripts: ["build", "lint"],
    file: "src/App.tsx",
    text: `import { useSyncExternalStore } from 'react'
import { connect } from 'vitrine/client'

const exhibit = connect({ ${load} })

export default function App() {
  const { shown } = useSyncExternalStore(exhibit.subscribe, () => exhibit.state)
  return <p>{shown?.map(({ title }) => title).join()}, edit 0</p>
}
`
  },
  "vue-ts": {
    framework: ["vue(), ", "import vue from '@vitejs/plugin-vue'\n"],
    scripts: ["build"],
    file: "src/App.vue",
    text: `<script setup lang="ts">
import { shallowRef } from 'vue'
import { connect, type Content } from 'vitrine/client'

const shown = shallowRef<Content['exhibits']['Objects']>()
connect({ ${load}, show: (objects) => { shown.value = objects } })
</script>

<template>
  <p>{{ shown?.map(({ title }) => title).join() }}, edit 0</p>
</template>
`
  },
  "svelte-ts": {
    framework: ["svelte(), ", "import { svelte } from '@sveltejs/vite-plugin-svelte'\n"],
    scripts: ["check", "build"],
    file: "src/App.svelte",
    text: `<script lang="ts">
  import { connect, type Content } from 'vitrine/client'

  let shown = $state.raw<Content['exhibits']['Objects']>()
  connect({ ${load}, show: (objects) => { shown = objects } })
</script>

<p>{shown?.map(({ title }) => title).join()}, edit 0</p>
`
  },
  "vanilla-ts": {
    scripts: ["build"],
    file: "src/main.ts",
    text: `import { connect } from 'vitrine/client'

connect({
  ${load},
  show: (objects) => {
    document.querySelector('#app')!.innerHTML = '<p></p>'
    document.querySelector('p')!.textContent = objects.map(({ title }) => title).join() + ', edit 0'
  }
})

import.meta.hot?.accept()
`
  }
}

const run = (cwd: string, program: string, ...args: ReadonlyArray<string>) =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

/** The project of a template with its packages, made once; the package of this repository is installed anew. */
const makeProject = (name: string, { file, framework: [call, line] = ["", ""], text }: Template) =>
  Effect.gen(function* () {
    const { tarball } = yield* Packed
    const port = yield* freePort
    const folder = join(installed ?? "", name)
    if (!existsSync(join(folder, "node_modules/.package-lock.json"))) {
      rmSync(folder, { recursive: true, force: true })
      run(installed ?? "", "npx", "create-vite", name, "--template", name, "--no-interactive")
      run(folder, "npm", "install", "--no-audit", "--no-fund")
    }
    for (const made of ["content", "downloads", "page", "vitrine.config.ts", "vitrine.d.ts"]) {
      rmSync(join(folder, made), { recursive: true, force: true })
    }
    run(folder, "npm", "install", "--no-save", "--prefer-offline", "--no-audit", "--no-fund", tarball)
    run(folder, "npx", "vitrine", "init", "--page")
    const edit = (path: string, change: (text: string) => string) =>
      writeFileSync(join(folder, path), change(readFileSync(join(folder, path), "utf8")))
    const content = `http://127.0.0.1:${port}`
    edit("vitrine.config.ts", (text) => text.replaceAll("8710", "0").replaceAll("8730", `${port}`))
    writeFileSync(
      join(folder, "vite.config.ts"),
      `${line}import { defineConfig } from 'vite'
import { vitrine } from 'vitrine/vite'

export default defineConfig({ plugins: [${call}vitrine({ content: '${content}' })] })
`
    )
    for (const settings of ["tsconfig.app.json", "tsconfig.json"]) {
      if (existsSync(join(folder, settings))) {
        edit(settings, (text) => text.replace(/"include": \["src/, '"include": ["vitrine.d.ts", "src'))
      }
    }
    writeFileSync(join(folder, file), text)
    run(folder, "npx", "vitrine", "fetch")
    run(folder, "npx", "vitrine", "types")
    return { content, edit, folder }
  })

/** A dev server in its own process, with its address. */
const startDev = (folder: string) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const vite = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(
          process.execPath,
          ["node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", `${port}`],
          {
            cwd: folder,
            stdio: "ignore"
          }
        )
      ),
      (vite) => Effect.sync(() => vite.kill("SIGKILL"))
    )
    const url = `http://127.0.0.1:${port}/`
    yield* eventually(answers(url))
    const end = Effect.promise(async () => {
      const ended = once(vite, "exit")
      vite.kill("SIGINT")
      await ended
    })
    return { end, url }
  })

const answers = (url: string) =>
  Effect.promise(() =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false
    )
  )

const environment = Layer.mergeAll(Browser.layer, Packed.layer).pipe(Layer.provideMerge(NodeContext.layer))

describe.skipIf(installed === null || isMissing("chromium"))("a project of create-vite", () => {
  layer(environment, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.scoped.each(Object.entries(templates))(
      "of the template %s is typed, shows content, and is built",
      ([name, template]) =>
        Effect.gen(function* () {
          const { content, edit, folder } = yield* makeProject(name, template)
          for (const script of template.scripts) {
            run(folder, "npm", "run", script)
          }
          const { end, url } = yield* startDev(folder)
          const tab = yield* openTab(url)
          const shows = (barometer: string, edit: number) =>
            waitFor(
              tab,
              `document.querySelector("p")?.textContent === "The Penrice Fog Bell,${barometer},A Bottle of Spring Tide, edit ${edit}"`
            )
          yield* shows("The Sulking Barometer", 0)
          yield* evaluate(tab, "window.mark = true")
          edit("content/Objects.csv", (text) => text.replace("Sulking", "Smiling"))
          yield* shows("The Smiling Barometer", 0)
          for (const number of [1, 2, 3, 4]) {
            const save = Effect.sync(() =>
              edit(template.file, (text) => text.replace(/edit \d/, `edit ${number}`))
            )
            yield* Effect.raceFirst(shows("The Smiling Barometer", number), savedAgain(save))
          }
          expect(yield* evaluate(tab, "window.mark")).toBe(true)
          yield* end
          yield* eventually(Effect.map(answers(`${content}/manifest.json`), (answers) => !answers))
        })
    )
  })
})
