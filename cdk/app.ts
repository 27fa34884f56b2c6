/** What the CDK command line runs: the deployments of `tollgate.config.ts`, as stacks. */
import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { addDeployments } from './add-deployments.ts';
import { SettingsError } from './settings/mistake.ts';
import { readDeployments } from './settings/read-deployments.ts';
import { deployments } from './tollgate.config.ts';

const bundlesPath = fileURLToPath(new URL('../dist', import.meta.url));
const app = new App();
try {
  // The CDK command line says where its caller's deployments go.
  const callersRegion = process.env.CDK_DEFAULT_REGION;
  addDeployments(app, readDeployments(deployments, app.node.getAllContext(), callersRegion), bundlesPath);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  // The list is for whoever edits the file; where our code found out helps nobody.
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
