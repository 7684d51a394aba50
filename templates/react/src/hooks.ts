import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react"
import { language } from "vitrine/client/helpers"
import { exhibit, languages } from "./exhibit.ts"

/** The content on the screen. Draws the component again with each new version, and when the connection changes. */
export const useExhibit = () => useSyncExternalStore(exhibit.subscribe, () => exhibit.state)

/** The current language, a function to change it, and a function that translates a table. Missing texts come from the next language. */
export const useLanguage = () => {
  const [spoken, speak] = useState<(typeof languages)[number]>(languages[0])
  useEffect(() => {
    document.documentElement.lang = spoken
  }, [spoken])
  const inLanguage = <Table>(table: Table) => language(table, ...new Set([spoken, ...languages]))
  return { inLanguage, speak, spoken }
}

/** Calls `next` when `seconds` are over, and no visitor has done anything for a minute. */
export const useSlideShow = (shown: string | undefined, seconds: number, next: () => void) => {
  const visited = useRef(Number.NEGATIVE_INFINITY)
  const goOn = useEffectEvent(next)
  useEffect(() => {
    const life = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const wait = () => {
      clearTimeout(timer)
      timer = setTimeout(step, Math.max(seconds * 1000, visited.current + 60_000 - performance.now()))
    }
    const step = () => {
      goOn()
      wait()
    }
    const visit = () => {
      visited.current = performance.now()
      wait()
    }
    for (const event of ["click", "keydown", "pointerdown", "touchmove", "wheel"]) addEventListener(event, visit, life)
    wait()
    return () => {
      life.abort()
      clearTimeout(timer)
    }
  }, [shown, seconds])
}
