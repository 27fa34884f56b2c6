/** `npm run conformance`: the relay as a process against a job router that shares nothing with it. See USAGE. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildPeer, PeerError } from './conformance/build-peer.ts';
import { failuresText, resultLine, summaryText } from './conformance/report-text.ts';
import { PHASES, runPhases } from './conformance/run-phases.ts';

const USAGE = `npm run conformance [-- --only <text>] [--json]

Builds the job router of test/peers/router (Go: grpc-go and coder/websocket as in GitLab's own, with a schema of its own),
runs relay/main.ts against it with the real admit function, and compares what the router asked and heard with what the
relay counted. Every phase has a router and relays of its own. Needs Go and takes about two minutes.

  --only <text>  the phases whose names hold this text
  --json         print JSON instead of lines

Phases:
${PHASES.map(({ name, says }) => `  ${name.padEnd(34)}${says}`).join('\n')}

Exit codes: 0 everything holds, 1 something does not, 3 wrong usage, or Go is missing`;

const root = fileURLToPath(new URL('../..', import.meta.url));

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (!PHASES.some(({ name }) => name.includes(values.only)))
    throw new TypeError(`--only is "${values.only}"; no phase has that in its name`);
  console.error('Building the router …');
  const program = await buildPeer(root);
  const results = await runPhases(program, values.only, (result) => {
    if (!values.json) console.log(resultLine(result));
    for (const line of failuresText(result)) console.error(line);
  });
  if (values.json) console.log(JSON.stringify({ results }, undefined, 2));
  else console.log(summaryText(results));
  return results.every(({ checks }) => checks.every(({ holds }) => holds)) ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  process.exit(await main());
} catch (error) {
  const usage = error instanceof TypeError;
  const known = usage || error instanceof PeerError;
  console.error(known ? error.message : error);
  if (usage) console.error(`\n${USAGE}`);
  process.exit(known ? 3 : 1);
}
