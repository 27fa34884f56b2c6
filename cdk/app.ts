import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { chosenDeployments, readDeployments, readStage, SettingsError } from './settings/read-deployments.ts';
import { deployments } from './tollgate.config.ts';
import { Tollgate } from './tollgate.ts';

const { CDK_OUTDIR } = process.env;
// Paths of settings are relative to the repository, and that of the output to this folder.
const outdir = CDK_OUTDIR === undefined ? {} : { outdir: resolve(CDK_OUTDIR) };
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const bundlesPath = fileURLToPath(new URL('../dist', import.meta.url));
const app = new App(outdir);
try {
  const context = app.node.getAllContext();
  // Names the mistakes of all deployments, and not of the first alone.
  readDeployments(deployments, context);
  for (const deployment of chosenDeployments(deployments, context))
    new Tollgate(app, `Tollgate-${readStage(deployment)}`, { ...deployment, bundlesPath });
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  // Print the list without a stack trace: it is for the editor of the file.
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
