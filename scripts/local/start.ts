import { fileURLToPath } from 'node:url';
import { PipelineError } from '../cli/pipeline/pipeline-error.ts';
import { DocumentError } from '../terminal/command.ts';
import { runProgram } from '../terminal/program.ts';
import { readLocalRules } from './admit.ts';
import { parseOptions, USAGE } from './options.ts';
import { run } from './run.ts';
import { jsonScreen, terminalScreen } from './screen.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args, root);
  const rules = readLocalRules(options);
  const stop = new AbortController();
  const interrupted = (): void => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  const screen = options.json
    ? jsonScreen(process.stdout, rules.limits)
    : terminalScreen(process.stdout, rules.policy.currency, process.env);
  await run(options, rules, root, screen, stop.signal);
  return 0;
}

await runProgram(main, 'npm start -- --help', {
  usage: USAGE,
  isInput: (error) => error instanceof DocumentError || error instanceof PipelineError,
});
