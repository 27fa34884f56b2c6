import { shellWord } from '../../../policies/text/plain-text.ts';
import { EXIT, type ExitCode } from '../../terminal/command.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import type { SetupReport } from './setup-course.ts';
import type { SetupLine } from './setup-line.ts';

const MARKS: Readonly<Record<SetupLine['standing'], readonly [string, keyof Paint]>> = {
  right: ['ok     ', 'good'],
  done: ['done   ', 'good'],
  planned: ['would  ', 'warn'],
  wrong: ['wrong  ', 'bad'],
  unknown: ['unknown', 'warn'],
};

/** One line per part, its remedy under it. */
export const linesText = (lines: readonly SetupLine[], paint: Paint): string =>
  lines
    .map(({ part, standing, says, remedy }) => {
      const [mark, colour] = MARKS[standing];
      const head = `${paint[colour](mark)}  ${part.padEnd(10)}  ${printable(says)}\n`;
      return remedy === undefined ? head : `${head}${' '.repeat(21)}→ ${printable(remedy)}\n`;
    })
    .join('');

/** The next steps: two commands to the first decision, or the obstacles. */
export function nextText(report: SetupReport, gitlabUrl: string, tokenFile: string | undefined): string {
  const wrong = report.lines.filter(({ standing }) => standing === 'wrong').length;
  if (wrong > 0)
    return `${wrong === 1 ? '1 thing remains' : `${wrong} things remain`}; run this again when that is done.\n`;
  if (report.mode === 'look') return 'Nothing is wrong.\n';
  if (report.mode === 'plan') return 'Nothing was changed. The same without --dry-run does it.\n';
  if (tokenFile === undefined)
    return 'All is set up. Once it is deployed, the same with --webhook-url makes the webhooks; then tollgate gitlab status\n';
  const { routerUrl = '<router>', kasVersion } = report;
  return `All is set up: the controller is ${report.controller?.state ?? 'there'}. To the first decision:
  npm run proto:sync -- --ref ${kasVersion === undefined ? '<version of KAS>' : `v${kasVersion}`}
  npm start -- --router ${routerUrl} --gitlab ${gitlabUrl} --token-file ${shellWord(tokenFile)} --proto relay/wire/gitlab.binpb
`;
}

/** Exit code: 2 for problems, 1 if GitLab did not answer. Planned changes are no problem. */
export function exitOf(lines: readonly SetupLine[]): ExitCode {
  const wrong = lines.filter(({ standing }) => standing === 'wrong');
  if (wrong.length === 0) return EXIT.ok;
  return wrong.every(({ silent }) => silent === true) ? EXIT.failed : EXIT.wouldReject;
}
