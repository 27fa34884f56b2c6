/** The components and formats of pages, imported as `ui`. */
export * from './amounts.tsx';
export * from './form-field.tsx';
export * from './format.ts';
export * from './layout.tsx';
export * from './tables.tsx';
