/**
 * Pages of several frameworks in the dev server of Vite, edited while they are open.
 */
import { writeFileSync } from "node:fs"
import { expect } from "@effect/vitest"
import { svelte } from "@sveltejs/vite-plugin-svelte"
import react from "@vitejs/plugin-react"
import vue from "@vitejs/plugin-vue"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import type { PluginOption } from "vite"
import { openTab } from "./browser.ts"
import { evaluate, makeStageWith, waitFor } from "./stage.ts"
import { makeViteProject, startVite } from "./vite.ts"

export const html = (main: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <title>A template</title>
  </head>
  <body>
    <div id="app"></div>
    <script type="module" src="/src/${main}"></script>
  </body>
</html>
`

const pollEvery = 200

/** The connection, in the syntax of each template. */
const connecting = (version: string) =>
  `connect({ pollEvery: ${pollEvery}, load: (version${version}) => version.table("exhibits", "Objects") `

interface Template {
  readonly plugins: ReadonlyArray<PluginOption>
  readonly files: Readonly<Record<string, string>>
  /** The file that is edited: it has the text `edit 0`. */
  readonly edited: string
}

export const templates: Readonly<Record<string, Template>> = {
  React: {
    plugins: [react()],
    edited: "src/App.tsx",
    files: {
      "index.html": html("main.tsx"),
      "src/main.tsx": `import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import App from "./App.tsx"

createRoot(document.getElementById("app")!).render(<StrictMode><App /></StrictMode>)
`,
      "src/App.tsx": `import { useSyncExternalStore } from "react"
import { connect, type Version } from "vitrine/client"

const exhibit = ${connecting(": Version")}})

export default function App() {
  const { shown } = useSyncExternalStore(exhibit.subscribe, () => exhibit.state)
  return <p>{shown && \`number \${shown[0].number}\`}, edit 0</p>
}
`
    }
  },
  "React with the connection in a module of its own": {
    plugins: [react()],
    edited: "src/exhibit.ts",
    files: {
      "index.html": html("main.tsx"),
      "src/main.tsx": `import { createRoot } from "react-dom/client"
import App from "./App.tsx"

createRoot(document.getElementById("app")!).render(<App />)
`,
      "src/App.tsx": `import { useSyncExternalStore } from "react"
import { exhibit, text } from "./exhibit.ts"

export default function App() {
  const { shown } = useSyncExternalStore(exhibit.subscribe, () => exhibit.state)
  return <p>{shown && \`number \${shown[0].number}\`}, {text}</p>
}
`,
      "src/exhibit.ts": `import { follow } from "./follow.ts"

export const text = "edit 0"
export const exhibit = follow()
`,
      "src/follow.ts": `import { connect, type Version } from "vitrine/client/preview"

export const follow = () => ${connecting(": Version")}})
`
    }
  },
  Vue: {
    plugins: [vue()],
    edited: "src/App.vue",
    files: {
      "index.html": html("main.ts"),
      "src/main.ts": `import { createApp } from "vue"
import App from "./App.vue"

createApp(App).mount("#app")
`,
      "src/App.vue": `<script setup lang="ts">
import { shallowRef } from "vue"
import { connect, type Version } from "vitrine/client"

const text = "edit 0"
const shown = shallowRef()
${connecting(": Version")}, show: (objects) => { shown.value = objects } })
</script>

<template>
  <p><template v-if="shown">number {{ shown[0].number }}</template>, {{ text }}</p>
</template>
`
    }
  },
  Svelte: {
    plugins: [svelte({ configFile: false })],
    edited: "src/App.svelte",
    files: {
      "index.html": html("main.ts"),
      "src/main.ts": `import { mount } from "svelte"
import App from "./App.svelte"

export default mount(App, { target: document.getElementById("app")! })
`,
      "src/App.svelte": `<script lang="ts">
  import { connect, type Version } from "vitrine/client"

  let shown = $state.raw<any>()
  ${connecting(": Version")}, show: (objects) => { shown = objects } })
</script>

<p>{#if shown}number {shown[0].number}{/if}, edit 0</p>
`
    }
  },
  "plain TypeScript that accepts its updates": {
    plugins: [],
    edited: "src/main.ts",
    files: {
      "index.html": html("main.ts"),
      "src/main.ts": `import { connect, type Version } from "vitrine/client"

${connecting(": Version")}, show: ([{ number }]: any) => {
  document.querySelector("#app")!.innerHTML = \`<p>number \${number}, edit 0</p>\`
} })

import.meta.hot?.accept()
`
    }
  }
}

/** How long so many polls take, in milliseconds. */
export const pollsTake = (tab: Page, count: number) =>
  Effect.promise(async () => {
    const began = performance.now()
    for (let index = 0; index < count; index++) {
      await tab.waitForRequest(/\/manifest\.json$/)
    }
    return performance.now() - began
  })

/** A page of the template that shows version 1, with a mark that a reload would remove. */
export const openTemplate = ({ edited, files, plugins }: Template) =>
  Effect.gen(function* () {
    const stage = yield* makeStageWith("")
    const servers = yield* stage.start()
    yield* stage.promote(1)
    const root = yield* makeViteProject(files)
    const { url } = yield* startVite(root, { content: servers.url, plugins, start: false })
    const tab = yield* openTab(url)
    const shows = (number: number, edit: number) =>
      waitFor(
        tab,
        `document.querySelector("p")?.textContent === "number ${number}, edit ${edit}" && document.querySelectorAll("p").length === 1`
      )
    yield* shows(1, 0)
    yield* evaluate(tab, "window.mark = true")
    return {
      ...stage,
      servers,
      tab,
      shows,
      edit: (edit: number) =>
        Effect.sync(() =>
          writeFileSync(`${root}/${edited}`, files[edited]?.replace("edit 0", `edit ${edit}`) ?? "")
        ),
      wasNeverReloaded: Effect.map(evaluate(tab, "window.mark"), (mark) => expect(mark).toBe(true))
    }
  })

/** So many polls of one connection take so long at least. */
export const polls = 15
export const ofOneConnection = polls * pollEvery * 0.8 * 0.9
