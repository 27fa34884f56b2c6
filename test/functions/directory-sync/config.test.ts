import { expect, test } from 'vitest';
import { readDirectoryConfig } from '../../../functions/directory-sync/config.ts';
import { ENV_GITLAB_INSTANCE } from '../../../functions/names.ts';

test('one failed deploy names every setting that is missing', () => {
  expect(() => readDirectoryConfig({ [ENV_GITLAB_INSTANCE]: 'gitlab.example.com' })).toThrow(
    /config_invalid.*LEDGER_TABLE.*GITLAB_URL.*TOKEN_PARAMETER/,
  );
});
