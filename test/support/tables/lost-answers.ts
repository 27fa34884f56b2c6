/** `lost-before`: never applied; `lost-after`: applied, and the answer is lost. Both look the same to the caller. */
export type LostAnswer = 'lost-before' | 'lost-after' | undefined;

/** The same store, which loses answers. @param fault - asked once per operation. @param lost - what the store throws then. */
export function withLostAnswers<Store extends object>(
  store: Store,
  fault: (operation: keyof Store) => LostAnswer,
  lost: (why: string) => Error,
  /** What is no operation of the store, and answers at once. */
  beside: readonly (keyof Store)[] = [],
): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (beside.some((each) => each === name)) return member.bind(target);
      return async (...asked: readonly unknown[]) => {
        const answerLost = fault(name as keyof Store);
        const error = lost(`${String(name)}: no answer from the in-memory table (injected fault)`);
        if (answerLost === 'lost-before') throw error;
        const answer: unknown = await Reflect.apply(member, target, asked);
        if (answerLost === 'lost-after') throw error;
        return answer;
      };
    },
  });
}
