/** Stored result of the last hourly health check. */
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type InstanceTable, type Item, ledgerKeys, singleItem } from '../../core/store/index.ts';
import type { DeployedEvidence } from './evidence.ts';
import { type HealthView, HealthViewSchema } from './model.ts';

interface KeptLook {
  readonly view: HealthView;
  readonly deployed: DeployedEvidence;
}

interface LookStore {
  /** Undefined: there was none yet, or a newer program wrote it. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<KeptLook | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(look: KeptLook): Promise<void>;
}

const VIEW = 'vw';
const POLICY = 'po';
const DESCRIPTORS = 'ds';

/** One item, which each look replaces. */
export function dynamoHealthLook({ table, instance }: InstanceTable): LookStore {
  const key = ledgerKeys(instance).healthLook;
  const asIs = (each: Item): Item => each;
  const item = singleItem({
    ...{ table, key, name: 'the hourly look', consistent: false },
    ...{ encode: asIs, decode: asIs },
  });
  return {
    async read() {
      const found = await item.read();
      const view = HealthViewSchema.safeParse(parsed(found?.[VIEW]?.S));
      if (found === undefined || !view.success) return undefined;
      const [policyVersion, descriptorsVersion] = [found[POLICY]?.S, found[DESCRIPTORS]?.S];
      return { view: view.data, deployed: { policyVersion, descriptorsVersion } };
    },
    write: ({ view, deployed: { policyVersion, descriptorsVersion } }) =>
      item.write({
        [VIEW]: { S: JSON.stringify(view) },
        ...withoutAbsent({
          [POLICY]: policyVersion === undefined ? undefined : { S: policyVersion },
          [DESCRIPTORS]: descriptorsVersion === undefined ? undefined : { S: descriptorsVersion },
        }),
      }),
  };
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
