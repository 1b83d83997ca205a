// The page begins here.

import { collection } from "./collection.js";
import { start } from "./router.js";

collection().catch(() => {}); // the view says what is wrong
start();
