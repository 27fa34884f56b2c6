import type { Values } from '../parts/form-field.tsx';

/** What the form began with goes along under these names, so that only what was changed is sent. */
const WAS = 'was.';

export const asWas = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${WAS}${name}`, value]));

export const wasOf = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(WAS) ? [[name.slice(WAS.length), value]] : [],
    ),
  );
