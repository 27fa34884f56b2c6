/** `npm run walk`: does what the documents say, from empty books, and compares what they show. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLocalGitLab } from '../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../scripts/local/random.ts';
import { cloneHere } from '../support/clone.ts';
import { blocksOf, missingLine, shownBy, stepsOf } from './blocks.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOCUMENTS = ['docs/platform.md', 'docs/developers.md'];
const TOKEN = 'glpat-administrator';
/** Ends a command that waits for what never comes. */
const LIMIT = 'timeout 180';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function walk(document: string, isRecording: boolean): Promise<readonly string[]> {
  const file = join(ROOT, document);
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const problems: string[] = [];
  using clone = cloneHere();
  const gitlab = createLocalGitLab({
    random: seededRandom(1),
    token: TOKEN,
    version: '18.9',
    administration: { groups: [{ id: 100, path: 'acme' }] },
  });
  const served = await gitlab.listen();
  writeFileSync(join(clone.folder, 'admin-token'), `${TOKEN}\n`);
  const run = (command: string) =>
    clone.sh(`${LIMIT} sh -c "$WALKED"`, {
      WALKED: command.replaceAll('https://gitlab.example.com', served.url),
    });
  try {
    // Written from the last block on, so that the blocks before keep their line numbers.
    const rewritten: { readonly from: number; readonly count: number; readonly text: string }[] = [];
    for (const block of blocksOf(text)) {
      for (const { command, exit } of stepsOf(block)) {
        const { code, out, err } = await run(command);
        say(`${code === exit ? 'ok    ' : 'FAILED'}  ${document}  ${command}`);
        if (code !== exit)
          problems.push(
            `${document}: ${command}\n  exit ${code}, expected ${exit}\n${out.slice(-1500)}${err.slice(-1500)}`,
          );
      }
      const shown = shownBy(block);
      if (shown === undefined) continue;
      const { out } = await run(shown);
      const missing = missingLine(block.lines, out);
      say(`${missing === undefined ? 'same  ' : 'DIFFERS'}  ${document}:${block.from + 1}  ${shown}`);
      if (missing === undefined) continue;
      if (isRecording) rewritten.push({ from: block.from, count: block.lines.length, text: out.trimEnd() });
      else problems.push(`${document}:${block.from + 1}: ${shown} does not print\n  ${missing}\nbut\n${out}`);
    }
    for (const { from, count, text: recorded } of rewritten.toReversed())
      lines.splice(from, count, ...recorded.split('\n'));
    if (rewritten.length > 0) writeFileSync(file, lines.join('\n'));
  } finally {
    await served.stop();
    gitlab.stop();
  }
  return problems;
}

const problems: string[] = [];
for (const document of DOCUMENTS) problems.push(...(await walk(document, process.argv.includes('--record'))));
if (problems.length > 0) say(`\n${problems.join('\n\n')}`);
process.exitCode = problems.length > 0 ? 1 : 0;
