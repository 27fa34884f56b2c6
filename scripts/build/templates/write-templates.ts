/**
 * `node scripts/build/templates/write-templates.ts <tree> <folder>`: writes the templates of a tree of this project, with the
 * settings its tests of cdk/ are written against, as `<folder>/<stack>.template.json`. A process of its own, because every
 * tree loads its own code.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [tree, folder] = process.argv.slice(2);
if (tree === undefined || folder === undefined) throw new Error('expected a tree and a folder');

type Synthesized = typeof import('../../../test/cdk/synthesized.ts');
const { DEFAULTS, PRIVATE, synthesize }: Synthesized = await import(
  pathToFileURL(join(tree, 'test/cdk/synthesized.ts')).href
);

mkdirSync(folder, { recursive: true });
for (const { name, template } of [DEFAULTS, PRIVATE].flatMap((settings) => synthesize(settings).stacks)) {
  writeFileSync(join(folder, `${name}.template.json`), `${JSON.stringify(template, null, 2)}\n`);
}
