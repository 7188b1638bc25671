import type { Texts } from './en.ts';

export const outagesZh: Texts['outages'] = {
  asOf: '来自内存，之后的内容缺失，读取于',
  notRead: '此前未读取过这些内容，因此在 Redis 恢复之前无法显示。Redis 没有响应，开始于',
  cluster: {
    title: 'API server 没有响应。策略显示的是此时的状态：',
    works: '推送仍会被接收并保存。',
    text: '在其恢复之前，集群中不会有任何变更，审批等操作会失败。无法登录；权限在十分钟内未经确认的用户看不到任何内容。',
  },
  redis: {
    title: 'Redis 没有响应，开始于',
    works: '策略和原因是最新的，操作仍会被接受。',
    text: '推送和活动记录显示的是此前读取的内容，没有统计数据。新的推送会被拒绝，由发送方重发或由轮询发现；在 Redis 恢复之前不会有任何变更。',
  },
};
