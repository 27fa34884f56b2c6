/** `from` and `until` are told on the calendar they were written in; the zone is left out where it is UTC. */
export const edgeZone = (field: string, zone: string): { readonly zone?: string } =>
  (field === 'from' || field === 'until') && zone !== 'UTC' ? { zone } : {};
