import { plainLines } from '../../policies/text/plain-text.ts';

/**
 * GitLab's tutorial on admission controllers advises reasons below 500 characters. It may mean bytes, so bytes are counted.
 *
 * @see https://docs.gitlab.com/tutorials/build_runner_admission_controller/
 */
export const REASON_BYTES_MAX = 499;

const LOOKED_AT_MAX = 9_900;
/** The last lines, which lead to the whole text. They are kept. */
const POINTER = /^(?:Details|Decision)\b/;
/** A link of 300 characters and a decision's id. The rest is for the first line. */
const POINTERS_BYTES_MAX = 380;
const EXPLAIN = 'Full reason: tollgate explain';

/**
 * Returns the reason for the router: plain text, never empty, without invisible characters except line breaks. It drops lines from
 * the end until the text fits. The first line and those that lead to the whole text stay.
 */
export function wireReason(text: string): string {
  const plain = plainLines(text.slice(0, LOOKED_AT_MAX)).trim();
  if (plain === '') return 'Rejected by Tollgate without a reason. Contact the Tollgate team.';
  if (Buffer.byteLength(plain) <= REASON_BYTES_MAX) return plain;
  const [first = '', ...lines] = plain.split('\n');
  const pointers = lines.filter((line) => POINTER.test(line)).slice(-2);
  if (!pointers.some((line) => line.startsWith('Details'))) pointers.unshift(EXPLAIN);
  const last = cut(pointers.join('\n'), POINTERS_BYTES_MAX);
  let kept = cut(first, REASON_BYTES_MAX - Buffer.byteLength(last) - 1);
  for (const line of lines) {
    if (POINTER.test(line)) continue;
    const longer = `${kept}\n${line}`;
    if (Buffer.byteLength(longer) + Buffer.byteLength(last) + 1 > REASON_BYTES_MAX) break;
    kept = longer;
  }
  return `${kept}\n${last}`;
}

function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  return bytes
    .subarray(0, bytesMax)
    .toString()
    .replace(/\uFFFD+$/, '');
}
