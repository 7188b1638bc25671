/** Test files that `npm test` leaves to `npm run test:all`, and with it to `.ci/run`: by path, what a change must concern to break what no other test shows. */
export const secondTier: Readonly<Record<string, string>> = {
  'test/bench/bench.test.ts': 'the benchmark',
  'test/dashboard/looks.test.ts': 'how pages look, in all sizes of a browser',
  'test/end-to-end/alongside-storm.test.ts': 'images that are changed together, over kills',
  'test/end-to-end/base-acceptance.test.ts': 'base images as a whole, with real images of all kinds',
  'test/end-to-end/conversion-storm.test.ts': 'the bounds of the conversion webhook',
  'test/end-to-end/environments-storm.test.ts': 'what production may run, over kills',
  'test/end-to-end/mixed-pushes.test.ts': 'what keeps images and charts apart while processes are killed',
  'test/end-to-end/overload.test.ts': 'the bounds of the receiver',
  'test/end-to-end/storm.test.ts': 'the bounds of the queue',
  'test/end-to-end/two-versions-writes.test.ts': 'the upgrade from v1alpha1',
  'test/end-to-end/upgrade-from-v1.test.ts': 'the upgrade between two releases',
  'test/end-to-end/upgrade.test.ts': 'the upgrade from v1alpha1',
  'test/structure/main-job-without-wings.test.ts': 'what compose and the wings have in common',
  'test/structure/worked-examples.test.ts': 'the lists of the families, and the tests that hold them complete',
};
