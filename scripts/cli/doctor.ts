/** Says whether this relay can work with that GitLab, and shows what arrives. See {@link USAGE}. */

import { runProgram } from '../terminal/program.ts';
import { printable } from '../terminal/table.ts';
import { type DoctorFinding, examine, readDoctorOptions, USAGE } from './doctor/examine.ts';

async function main(): Promise<number> {
  const options = readDoctorOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    console.log(USAGE);
    return 0;
  }
  const say = (text: string): void => {
    if (!options.json) console.log(text);
  };
  say(
    '! The doctor answers one real admission request with "admitted". Set the controller to dry_run first.\n',
  );
  const findings: DoctorFinding[] = [];
  const shape = await examine(options, (finding) => {
    findings.push(finding);
    say(printable(formatFinding(finding)));
  });
  const problems = findings.filter((finding) => finding.outcome === 'problem').length;
  if (options.json) console.log(JSON.stringify({ ok: problems === 0, findings, shape }, null, 2));
  if (shape !== undefined)
    say(`\nWhat arrived, by field number (values are not shown):\n${printable(shape)}`);
  say(problems === 0 ? '\nNo problem found.' : `\n${problems} problem${problems === 1 ? '' : 's'} found.`);
  return problems === 0 ? 0 : 1;
}

const MARK = { ok: '✓', problem: '✗', note: '•', skipped: '–' } as const;
const CHECK_WIDTH = 13;

function formatFinding({ check, outcome, detail, remedy }: DoctorFinding): string {
  const head = `${MARK[outcome]} ${check.padEnd(CHECK_WIDTH)} ${detail}`;
  return remedy === undefined ? head : `${head}\n${' '.repeat(CHECK_WIDTH + 3)}→ ${remedy}`;
}

await runProgram(main, 'npm run doctor -- --help');
