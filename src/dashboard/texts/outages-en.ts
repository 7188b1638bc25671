/** The texts about what does not answer. The banner: `works`: only while the other one answers. */
export const outagesEn = {
  asOf: 'From memory: what came later is missing. As of',
  notRead: 'This cannot be shown until Redis answers again, because it was not read before. Redis does not answer since',
  cluster: {
    title: 'The API server does not answer. Policies are shown as of',
    works: 'Pushes are still accepted and kept.',
    text: 'Nothing is changed in the cluster, and approvals and other actions fail, until it answers. Nobody can sign in, and users whose rights were not confirmed within ten minutes see nothing.',
  },
  redis: {
    title: 'Redis does not answer, since',
    works: 'Policies and causes are current, and actions are accepted.',
    text: 'Pushes and activity are shown as they were read before, without figures. New pushes are refused, so that senders repeat them or a poll finds them, and nothing is changed until Redis answers.',
  },
};
