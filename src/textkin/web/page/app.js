// Entry point of the page.

import { collection } from "./collection.js";
import { start } from "./router.js";

collection().catch(() => {}); // the view shows the error
start();
