/** What one round measured. */
export interface Round<F, P> {
  readonly floor: F;
  readonly product: P;
}

/**
 * Measures floor and product in turns. Who begins changes: the API server collects its garbage every few hundred writes, and in a fixed order it would always
 * be the same side that pays.
 */
export async function alternate<F, P>(
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
  floor: () => Promise<F>,
  product: () => Promise<P>,
): Promise<Round<F, P>[]> {
  const results: Round<F, P>[] = [];
  for (let done = 0; done < rounds + warmUp; done++) {
    const productFirst = done % 2 === 1;
    const early = productFirst ? await product() : undefined;
    const result = { floor: await floor(), product: early ?? (await product()) };
    if (done >= warmUp) results.push(result);
  }
  return results;
}
