// How the page looks. What it does is in exhibit.js.
import { arrange, find, make, page, put } from "./exhibit.js"

{{main.js}}
