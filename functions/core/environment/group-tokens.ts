import type { Log } from './machine.ts';
import { ssmText } from './ssm-text.ts';

/**
 * Tokens that groups gave, one SecureString each: `<path>/101`. Undefined: nobody kept one, or it may not be read. The other groups
 * go on.
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
