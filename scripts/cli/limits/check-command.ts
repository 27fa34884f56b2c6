import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { selfLockout } from '../../../policies/self-lockout.ts';
import { DocumentError, readPolicy } from '../../policy/read-documents.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { rollupZone } from '../rollup-zone.ts';
import { rulesFiles } from '../rules-flags.ts';
import { readLiveSet, setShown } from './live-set.ts';
import { limitsDirectoryOf, type OpenLimits, openLimits, withOpenLimits } from './open-limits.ts';
import { NOTHING_LIVE, setText } from './set-text.ts';

/** The documents that limits are checked against. */
export const AGAINST_FLAGS = { policy: 'text', directory: 'text' } as const;
export const AGAINST_FLAGS_HELP = `  --policy <file>      the policy it is used with  (default: policies/policy.yaml of this project)
  --directory <file>   groups and projects         (default: those GitLab told last; policies/directory.yaml before)`;

const HELP = `tollgate limits check [flags]

Do the live limits still fit the policy here, and the groups there are? A runner class that is gone, too many counters for one
job, or limits that would reject the jobs of those who deploy: better known before npm run deploy than after it.

${AGAINST_FLAGS_HELP}
${LEDGER_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 they fit, or no set was ever published, 1 the table does not answer, 3 they do not, or wrong usage`;

export const limitsCheckCommandOn = (open: OpenLimits): Command => ({
  name: 'limits check',
  summary: 'Do the live limits still fit the policy here? To be asked before it is deployed',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { ...AGAINST_FLAGS, ...LEDGER_FLAGS });
    const files = rulesFiles(values, io);
    const policy = readPolicy(files.policy);
    const { live, directory } = await withOpenLimits(open, values, io, async (limits) => ({
      live: await readLiveSet(limits.table),
      directory: await limitsDirectoryOf(limits, values, io),
    }));
    if (live === undefined) {
      io.out(values.json ? `${JSON.stringify({ live: null })}\n` : `${NOTHING_LIVE}\n`);
      return EXIT.ok;
    }
    const { set } = live.pointer;
    const parsed = parseLimits(live.document, set, policy, directory);
    const problems = parsed.ok
      ? selfLockout(policy, parsed.value, directory, io.nowMs())
      : parsed.problems.map(problemText);
    if (problems.length > 0) throw new DocumentError(problems.map((each) => `set ${set}: ${each}`));
    const shown = setShown(live.pointer, live.change);
    if (values.json) io.out(`${JSON.stringify({ live: shown })}\n`);
    else {
      const paint = paintWhen(io.colours);
      io.out(`${setText(shown, rollupZone(io), paint)}${paint.good('fits')} ${files.policy}\n`);
    }
    return EXIT.ok;
  },
});

export const limitsCheckCommand: Command = limitsCheckCommandOn(openLimits);
