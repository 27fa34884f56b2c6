import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { addDeployments } from './add-deployments.ts';
import { readDeployments, SettingsError } from './settings/read-deployments.ts';
import { deployments } from './tollgate.config.ts';

const bundlesPath = fileURLToPath(new URL('../dist', import.meta.url));
const app = new App();
try {
  addDeployments(app, readDeployments(deployments, app.node.getAllContext()), bundlesPath);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  // Print the list without a stack trace: it is for the editor of the file.
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
