import type { Command } from '../../terminal/command.ts';
import { statementCommand } from '../statement/statement-command.ts';

/** The statement under the name finance looks for. */
export const chargebackCommand: Command = {
  ...statementCommand,
  name: 'report chargeback',
  summary: 'What is a group charged for a month? The same as tollgate statement',
  help: statementCommand.help.replace(/^tollgate statement /, 'tollgate report chargeback '),
};
