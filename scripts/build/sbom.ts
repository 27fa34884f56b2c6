import { spawnSync } from 'node:child_process';
import type { Metafile } from 'esbuild';

interface Bom {
  readonly metadata: Record<string, unknown>;
  readonly components: readonly { readonly 'bom-ref': string; readonly name: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  [other: string]: unknown;
}

const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** CycloneDX of the packages whose code is in a bundle, as npm describes them. The same bundle always gives the same text. */
export function bundleSbom(root: string, { outputs }: Metafile): string {
  const names = Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .map(([path, { bytesInOutput }]) => bytesInOutput > 0 && PACKAGE.exec(path)?.[1]);
  const args = ['sbom', '--package-lock-only', '--omit', 'dev', '--sbom-format', 'cyclonedx'];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  const { serialNumber: _, metadata, ...bom }: Bom = JSON.parse(stdout);
  const { timestamp: __, ...described } = metadata;
  const components = bom.components.filter(({ name }) => names.includes(name));
  const refs = new Set(components.map((each) => each['bom-ref']));
  const dependencies = bom.dependencies.flatMap(({ ref, dependsOn = [] }) =>
    refs.has(ref) ? [{ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }] : [],
  );
  return `${JSON.stringify({ ...bom, metadata: described, components, dependencies }, undefined, 2)}\n`;
}
