import { Document, isPair, isScalar, visit } from 'yaml';
import type { LimitsDocument } from '../../../functions/core/limits/index.ts';
import { SPENT_KINDS } from '../../../policies/units/unit.ts';

/** As people write it. Amounts are kept as texts, so that no float rounds them; where one is a number it needs no quotes. */
export function limitsYaml(document: LimitsDocument): string {
  const yaml = new Document(document);
  visit(yaml, {
    Scalar(key, node, path) {
      const pair = path.at(-1);
      if (key !== 'value' || !isPair(pair) || !isScalar(pair.key) || !AMOUNTS.has(String(pair.key.value)))
        return;
      if (typeof node.value !== 'string' || !DECIMAL.test(node.value)) return;
      const digits = node.value.split('.')[1]?.length ?? 0;
      node.value = Number(node.value);
      if (digits > 0) node.minFractionDigits = digits;
    },
  });
  return yaml.toString({ lineWidth: 0 });
}

const AMOUNTS: ReadonlySet<unknown> = new Set(SPENT_KINDS);
/** Few enough digits to be a number and come back as the same text. */
const DECIMAL = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/;
