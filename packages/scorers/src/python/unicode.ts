/** What Python 3.11 knows of Unicode 14.0 where Node, with a newer Unicode, would say otherwise; hexadecimal code points. */

/** First digits of the runs of ten that `\d`, `int()` and `float()` take. */
export const DIGIT_ZEROS =
  '30 660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 1a90 ' +
  '1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 11066 110f0 11136 111d0 112f0 11450 ' +
  '114d0 11650 116c0 11730 118e0 11950 11c50 11d50 11da0 16a60 16ac0 16b50 1d7ce 1d7d8 1d7e2 1d7ec 1d7f6 1e140 ' +
  '1e2f0 1e950 1fbf0'

/** Letters and numbers that came after Unicode 14.0. */
export const NEWER_THAN_UNICODE_14 =
  '88f c5c cdc 1c89-1c8a a7cb-a7cf a7d2 a7d4 a7da-a7dc a7f1 105c0-105f3 10940-10959 10d40-10d65 10d6f-10d85 ' +
  '10ec2-10ec7 1123f-11240 11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3 116d0-116e3 11bc0-11be0 ' +
  '11bf0-11bf9 11db0-11ddb 11de0-11de9 11f02 11f04-11f10 11f12-11f33 11f50-11f59 1342f 13441-13446 13460-143fa ' +
  '16100-1611d 16130-16139 16d40-16d6c 16d70-16d79 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cff ' +
  '18d09-18d1e 18d80-18df2 1b132 1b155 1ccf0-1ccf9 1d2c0-1d2d3 1df25-1df2a 1e030-1e06d 1e4d0-1e4eb 1e4f0-1e4f9 ' +
  '1e5d0-1e5ed 1e5f0-1e5fa 1e6c0-1e6de 1e6e0-1e6e2 1e6e4-1e6e5 1e6e7-1e6ed 1e6f0-1e6f4 1e6fe-1e6ff 2b739-2b73f ' +
  '2cea2-2cead 2ebf0-2ee5d 31350-33479'

/** Letters whose lower case came after 14.0. */
export const NEWER_LOWER = '1c89 a7cb-a7cc a7ce a7d2 a7d4 a7da a7dc 10d50-10d65 16ea0-16eb8'

/** Letters whose upper case came after 14.0. */
export const NEWER_UPPER = '19b 264 1c8a a7cd a7cf a7d3 a7d5 a7db 10d70-10d85 16ebb-16ed3'

/** Title cases that are neither the upper case nor the letter itself: `from:to+to`. */
export const TITLE_CASE_PAIRS =
  'df:53+73 1c4:1c5 1c6:1c5 1c7:1c8 1c9:1c8 1ca:1cb 1cc:1cb 1f1:1f2 1f3:1f2 587:535+582 1fb2:1fba+345 1fb3:1fbc ' +
  '1fb4:386+345 1fb7:391+342+345 1fc2:1fca+345 1fc3:1fcc 1fc4:389+345 1fc7:397+342+345 1ff2:1ffa+345 1ff3:1ffc ' +
  '1ff4:38f+345 1ff7:3a9+342+345 fb00:46+66 fb01:46+69 fb02:46+6c fb03:46+66+69 fb04:46+66+6c fb05:53+74 ' +
  'fb06:53+74 fb13:544+576 fb14:544+565 fb15:544+56b fb16:54e+576 fb17:544+56d'
