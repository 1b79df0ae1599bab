// Serves the built page with the small daemon, to be looked at in a browser: `npm run build && npm run dev`.
import { FakeDaemon } from "./daemon.mjs";
import { demo, large, NOW, PROJECT } from "./fixture.mjs";

const world = process.argv.includes("--large") ? large(1_000, 10_000) : demo();
const daemon = new FakeDaemon({ world, auth: process.argv.includes("--auth") });
const address = await daemon.listen(Number(process.env.PORT ?? 4180));
process.stdout.write(`The page with a small daemon: ${address}/ui/p/${PROJECT} (its clock began at ${new Date(NOW).toISOString()})\n`);
