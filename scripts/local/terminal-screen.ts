import { styleText } from 'node:util';
import { coloursWanted, printable } from '../terminal/paint.ts';
import { cutToColumns } from '../terminal/table.ts';
import { decisionHeader, decisionLine } from './decision-line.ts';
import { figureLine, liveLines } from './figure-lines.ts';
import { LiveBlock } from './live-block.ts';
import type { Screen } from './screen.ts';
import { renderSummary } from './summary-table.ts';

const LIVE_EVERY_MS = 500;
const LINE_EVERY_MS = 2_000;
const COLUMNS = 80;

/** For people: lines as decisions happen, the figures below them, then tables. Only a terminal is redrawn. */
export function terminalScreen(
  out: NodeJS.WriteStream,
  currency: string,
  env: Readonly<Record<string, string | undefined>>,
): Screen {
  const live = out.isTTY === true && env.TERM !== 'dumb';
  const colour = coloursWanted(out.isTTY === true, env);
  const block = new LiveBlock(out);
  // The last column is left free: some terminals break the line behind it.
  const columns = (): number =>
    out.isTTY === true ? (out.columns || COLUMNS) - 1 : Number.POSITIVE_INFINITY;
  const say = (line: string): void => block.say(line);
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  return {
    figuresEveryMs: live ? LIVE_EVERY_MS : LINE_EVERY_MS,
    loading: (done, total) => {
      if (done === undefined || total === undefined) return block.show([]);
      const loading = `month     ${total} days of made-up jobs for the console's pages …`;
      if (live) block.show([cutToColumns(`${loading} ${done} written`, columns())]);
      else if (done === 0) say(loading);
    },
    started: (facts) => {
      for (const [name, value] of Object.entries(facts)) say(`${name.padEnd(9)} ${value}`);
      say('');
      say(decisionHeader(columns()));
    },
    answered: (answered, count, total) =>
      say(
        decisionLine(answered, total === undefined ? String(count) : `${count}/${total}`, colour, columns()),
      ),
    ranOut: ({ text }) => say(paint(['bold', 'red'], cutToColumns(`▶ ${text}`, columns()))),
    figures: (figures) => {
      if (live) {
        const lines = ['', ...liveLines(figures, currency)].map((line) => cutToColumns(line, columns()));
        block.show(lines.map((line) => paint('bold', line)));
      } else say(figureLine(figures, currency));
    },
    trouble: (text) => say(`! ${printable(text)}`),
    mailed: ({ subject, text }) => say(`\n✉ ${printable(subject)}\n${indented(text)}\n`),
    finished: (summary) => {
      block.show([]);
      say(`\n${renderSummary(summary, currency, columns())}`);
    },
    closed: () =>
      say('\nThe console has closed. npm start -- --console keeps it up after the jobs, until Ctrl-C.'),
    stays: (url) => say(`\nThe console stays at ${url} until Ctrl-C; time goes at its usual pace again.`),
  };
}

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${printable(line)}`))
    .join('\n');
