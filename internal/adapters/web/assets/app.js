// The page works without scripts: forms are sent and pages come back. With them,
// messages are sent in place and the event stream brings steps and answers as they come.

import { handleAttachments } from "./attach.js";
import { handleCites } from "./cites.js";
import { handleCopies } from "./copy.js";
import { handleDrawer } from "./drawer.js";
import { complain, handleForms } from "./forms.js";
import { handleKeys } from "./keys.js";
import { connect } from "./talk.js";
import { handleWhy } from "./why.js";

if (location.search === "?arrived") history.replaceState(null, "", location.pathname + location.hash);
handleForms();
handleAttachments(complain);
handleCites();
handleCopies();
handleWhy();
handleDrawer();
handleKeys();
connect(complain);
