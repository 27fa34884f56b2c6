import { isRecord } from '../../policies/document/reading.ts';
import type { FetchAnswer } from '../admit-call.ts';

/** Names that services give their errors; anything else is not repeated. */
const ERROR_NAME = /^[A-Za-z]{3,60}$/;

/** A refusal by the service's own name for it, from the body or the header, e.g. `AccessDeniedException`. */
export function awsError(
  target: string,
  { status, headers }: Pick<FetchAnswer, 'status' | 'headers'>,
  body: unknown,
): Error {
  const name =
    errorName(isRecord(body) ? body.__type : undefined) ?? errorName(headers.get('x-amzn-errortype'));
  const error = new Error(
    `${target} answered with status ${status}${name === undefined ? '' : ` (${name})`}`,
  );
  if (name !== undefined) error.name = name;
  return error;
}

/** `com.amazonaws.ssm#ParameterNotFound:http://…` is `ParameterNotFound`. */
export function errorName(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const name = text.replace(/:.*$/s, '').replace(/^.*#/s, '');
  return ERROR_NAME.test(name) ? name : undefined;
}
