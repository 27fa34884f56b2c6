import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { consoleHouse, USERS } from '../house.ts';

const REDOCLY = fileURLToPath(new URL('../../../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));

test("the description of the API keeps Redocly's recommended rules, so that clients can be made from it", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-redocly-'));
  try {
    const response = await consoleHouse().appFor(USERS.none).request('/api/v1/openapi.json');
    writeFileSync(join(folder, 'openapi.json'), await response.text());
    const args = [REDOCLY, 'lint', 'openapi.json', '--extends', 'recommended', '--max-problems', '5'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
    expect(stderr).toContain('Your API description is valid');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
