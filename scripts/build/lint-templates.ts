/**
 * `node scripts/build/lint-templates.ts [folder …]`: cfn-lint over the synthesized templates of these folders; without one, over those of
 * every variation in test/cdk/variations.ts, equal ones once. Exit codes: 0 clean, 1 findings or no cfn-lint.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../terminal/program.ts';
import { pythonTools } from './python-tools.ts';

const LINT_MS_MAX = 300_000;

/** The CDK library writes out that a function waits for its role, which a reference says already; twice does no harm. */
const IGNORED = ['--ignore-checks', 'W3005'];

const templatesIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.template.json'))
    .map((file) => join(folder, file));

async function main(folders: readonly string[]): Promise<number> {
  const programs = pythonTools();
  const found = (folders.length > 0 ? folders : await synthesizedFolders()).flatMap(templatesIn);
  const templates = [...new Map(found.map((file) => [readFileSync(file, 'utf8'), file])).values()];
  if (templates.length === 0) throw new Error(`no template in ${folders.join(', ')}`);
  const { status, stdout, stderr } = spawnSync(
    join(programs, 'cfn-lint'),
    ['--format', 'parseable', ...IGNORED, '--', ...templates],
    { encoding: 'utf8', timeout: LINT_MS_MAX },
  );
  console.log(`${stdout}${stderr}`.trim());
  console.log(`${templates.length} templates, ${status === 0 ? 'clean' : 'not clean'}`);
  return status === 0 ? 0 : 1;
}

async function synthesizedFolders(): Promise<readonly string[]> {
  const { synthesize } = await import('../../test/cdk/synthesized.ts');
  const { VARIATIONS } = await import('../../test/cdk/variations.ts');
  return Object.values(VARIATIONS).map((settings) => synthesize(settings).app.synth().directory);
}

await runProgram(main, 'scripts/build/lint-templates.ts');
