/** The type of texts in another language: the same keys and parameters as the English ones. */
export type Translated<T> = {
  readonly [K in keyof T]: T[K] extends string ? string : T[K] extends (...values: never[]) => string | undefined ? T[K] : Translated<T[K]>;
};
