/** The texts of the search over everything, and of the keys, in English. */
export const findEn = {
  label: 'Find anything',
  placeholder: 'Find anything  ( / )',
  title: 'Find',
  titleOf: (text: string) => `Find: ${text}`,
  hint: 'Policies, images by repository, tag or digest, workloads, bases, and pushes by their id or digest: enter a part of a name, or a whole digest.',
  nothing: (text: string) => `Nothing that you may see matches "${text}".`,
  images: 'Images',
  versions: 'Versions',
  pushes: 'Pushes',
  allOf: 'Show all',
  total: (count: number) => (count === 1 ? '1 container' : `${count} containers`),
  keys: 'Keys',
  keyFind: 'find anything',
  keyKeys: 'show these keys',
  keyClose: 'close',
  close: 'Close',
};
