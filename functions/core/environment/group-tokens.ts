import type { Log } from './machine.ts';
import { ssmText } from './ssm-text.ts';

/**
 * Reads group tokens, one SecureString each: `<path>/101`. Undefined: none stored, or it may not be read.
 * Other groups are not affected.
 */
export const groupTokens =
  (path: string, log: Log) =>
  async (groupId: number): Promise<string | undefined> => {
    try {
      return (await ssmText(`${path}/${groupId}`)).trim();
    } catch (error) {
      log.warn("a group's token cannot be read", {
        groupId,
        error: error instanceof Error ? error.name : 'unknown error',
      });
      return undefined;
    }
  };
