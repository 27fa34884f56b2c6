/** Says whether this relay can work with that GitLab, and shows what arrives. See {@link USAGE}. */

import { printable } from '../terminal/paint.ts';
import { runProgram } from '../terminal/program.ts';
import { examine } from './doctor/examine.ts';
import { type DoctorFinding, formatFinding } from './doctor/finding.ts';
import { readDoctorOptions, USAGE } from './doctor/options.ts';

async function main(): Promise<number> {
  const options = readDoctorOptions(process.argv.slice(2), process.env);
  if (options === 'help') {
    console.log(USAGE);
    return 0;
  }
  const tell = (finding: DoctorFinding): void => {
    if (!options.json) console.log(printable(formatFinding(finding)));
  };
  if (!options.json) {
    console.log(
      '! The doctor answers one real question with "admitted". Set the controller to dry_run before you go on.\n',
    );
  }
  const { findings, shape } = await examine(options, tell);
  const problems = findings.filter((finding) => finding.outcome === 'problem').length;
  if (options.json) {
    console.log(JSON.stringify({ ok: problems === 0, findings, shape }, null, 2));
  } else {
    if (shape !== undefined)
      console.log(`\nWhat arrived, by field number (values are not shown, see --show):\n${printable(shape)}`);
    console.log(
      problems === 0 ? '\nNo problem found.' : `\n${problems} problem${problems === 1 ? '' : 's'} found.`,
    );
  }
  return problems === 0 ? 0 : 1;
}

await runProgram(main, 'npm run doctor -- --help');
