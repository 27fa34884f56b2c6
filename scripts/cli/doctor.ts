/** Says whether this relay can work with that GitLab, and shows what arrives. See {@link USAGE}. */

import { printable } from '../terminal/paint.ts';
import { examine } from './doctor/examine.ts';
import { type DoctorFinding, formatFinding } from './doctor/finding.ts';
import { readDoctorOptions, USAGE } from './doctor/options.ts';

const options = readDoctorOptions(process.argv.slice(2));
if ('problem' in options) {
  console.error(options.problem === '' ? USAGE : `${options.problem}\n\n${USAGE}`);
  process.exit(options.problem === '' ? 0 : 2);
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
process.exit(problems === 0 ? 0 : 1);
