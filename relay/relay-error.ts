import { codedError } from '../policies/coded-error.ts';

export class RelayError extends codedError('RelayError', {
  config_invalid: false,
  schema_invalid: false,
  wire_invalid: false,
  token_unreadable: true,
  router_unavailable: true,
  router_refused: true,
  admit_unreachable: true,
  admit_throttled: true,
  admit_refused: false,
}) {}
