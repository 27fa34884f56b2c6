import { countText, type Rounding } from './money-text.ts';

const KIB_BYTES = 1_024;
const SCALES = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Memory as Kubernetes counts it, to the hundredth: `512 MiB`, `6 GiB`, `1.25 GiB`. Nobody writes a limit finer. */
export function bytesText(bytes: number, rounding: Rounding = 'exact'): string {
  if (Math.abs(bytes) < KIB_BYTES) return `${bytes} B`;
  let hundredths = 0;
  let name = '';
  let amount = bytes;
  // The first scale on which it has at most four digits, after rounding: 1,023.999 MiB rounded up are 1 GiB.
  for (const scale of SCALES) {
    amount /= KIB_BYTES;
    hundredths = rounded(amount * 100, rounding);
    name = scale;
    if (Math.abs(hundredths) < KIB_BYTES * 100) break;
  }
  return `${countText(hundredths / 100)} ${name}`;
}

function rounded(amount: number, rounding: Rounding): number {
  switch (rounding) {
    case 'exact':
    case 'nearest':
      return Math.round(amount);
    case 'down':
      return Math.floor(amount);
    case 'up':
      return Math.ceil(amount);
  }
}
