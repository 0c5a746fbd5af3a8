@testable import NuthatchStore

/// Keys with the same home slot in every index of up to 2^17 slots. They were found by trying.
enum CollidingKeys {
  /// Keys of metas: more than the longest probe.
  static let metas = keys(.meta, metaNames)
  static let bodies = keys(.body, bodyNames)
  static let thumbs = keys(.thumb, thumbNames)

  private static func keys(_ kind: RecordKind, _ names: String) -> [RecordKey] {
    names.split { $0 == " " || $0 == "\n" }.map { RecordKey(kind, "https://example.com/" + $0) }
  }

  private static let metaNames = """
    3iqb 3tle 3uxg 3v6c 4txr dy7u gkfi gop1 i540 n7dq o73b p5gv sd29 vsv4 wlmq wxba xbf9 xpji 12jhr 16zdj
    18tin 1adai 1bex8 1ebz8 1h14n 1kxjx 1qxke 1s0n9 1u7bp 1wrb3 23iyq 24c69 264wt 2c8i8 2d8tm 2ess8 2hwyp
    2i7i7 2kkzt 2nauz 2qhh8 2r195 2vs4f 2x88h 2zrlj 30rqy 31jhq 33fha 35c4h 35xbx 36c5o 3f3i4 3jte8 3m7kh
    3rzb1 3u71k 40vaw 41k2x 42km7 46x6f 47gc8 4evoe 4f6uy 4iax9 4j5h6 4jtb7 4lzzb 4nl1x 4rfwa 4t0gv 4ucqa
    4ugf0 4wqap 4y6l4 53m5r 57rck 5frnv 5jh2v 5k9yy 5og65 5q1g0 5xvy4 64qbg 66rmw 6716a 67hqz 6cz3s 6ddtp
    6fyym 6gblr 6j51m 6jv97 6n297 6omyr 6pl7u 6tw82 6xab7 6zjjb 70a37 70jec 71x0w 73ntn 74tel 78c0r 7d5hi
    7dz6d 7epvp 7hk27 7ktw9 7ohej 7oq7k 7sphu 81hon 86b7g 8av2n 8c5it 8oscc 8p63s 8pk23 8qnp6 8qw2w 8vpgb
    8y2uf 8z8t4 8zxbx 92fw2 933ea 954fa 96erp 9fhby 9fuz0 9gm9c 9qm0u 9s0nu 9sslu 9u4ms 9u59y 9vk8w a4oat
    a4ulc a7luu a9nyu aasc3 acrmf afokj ahe25 akvn2 an0f9 arpmb auuth av3h4 b0ayi b23hi bbuqw bee2f bj2c1
    bj7gy bke5e bl3pa bl76v bnopa boi5q boy6j bpldo buxjt byg4h byzkp bz4j7 c4a9g c6lth c8e4q c9xcm civim
    cjz4o cklnt cn4gb cpotl cqg4a cuk7j cw7of cx7kk cys18 d3aci da1cn dai64 de5hi dg69a drzo2 dvjp5 dvnkd
    dyjns e1fjd e2wnp e4gov e4gqb e5n0i e6i3h e7yky e98mt eayhb ebhs2 ee1si eft5z egs8k ejr7z epr3u eqmzf
    exiwa ez70k f5otr f67li f6gij f73te fe1fk ffgpc fjfcc fkwe6 fmhe0 fopko fpg1e ftag3 fu1be fu39l fujzh
    fvcfh fy6q2 g3qbj g46bt g5li3 g77uq g7v49 g8xdz gb8aa gb9x7 gbgs2 gc5nm gdlyx ggb81 ggml9 ggu1q ghcpu
    gkzlw gpcds gtz5d gu7iw gyxlk gzjzn gztkv gzyck h0no3 h87vd hdczi hhi7g hi4oc hmy0q ho5bk hogn9 hq8b2
    hu38g hwpjt hydvh hyhz1 i0uvs i1aix i3d5i iazk6 ijcjc ikad4 ikapp ir6yy irc4s ix5p8 j0hp6 j11xq j174y
    j5coy j89of j8l3d j8zip jbwv5 jd1g6 je4u4 jinan jtqr3 jv1ak jyo8i k23ua k4np8 k7sag k8u5u kdoaj klprn
    ktk6o l1z4f l20b9 l57ip l5fbd l6wp5 l7asp l7zw6 lb2rc levkq li0ax lno6m ls7v5 lvikr ly1d6 ly9g7 m38s8
    m44rd m7qip mb0ck mc0kj mck1n mh17f mncts mnoo6 mupxx mus16 n25e2 n2rdt n3kc8 n4ii0 n5pqo n6qhy n9ozt
    ng3di nibc2 nlz59 nr4j2 ns463 nvbsd nwxoc nxxh8 o5s1l oamvt ojbgf ol3zb om28x oqlqx orybz oznl3 p1q7r
    p2rka p5ri1 pcqvl pea4j peds7 pibxr pj1ut pk81o ppody pptri pte38 puaqm puhsc q8n8s qau6n qauma qb44e
    qbeam qcael qfydn qio0r qo8fo qrjug qrw55 qtnmi quukc quz4o qvkf7 r1bjr r6qf8 r7gbi r7i40 r7xqs rfcej
    rfioa rjipf rn90u rnsz0 rq530 rsa9g ru9lr rvjr4 rwbyp rxxkd ryi6p s2ptl s40hk sh00s shqli spaj2 sps59
    sqvab srwk4 sw0xd swgqh swlwe t1azv t8ml1 tac9r tbadw tc8z9 tg4y5 tl7mp tng8c tv9o9 tvyjr txbvl tyigj
    u3dyb u3xfw u554j u5ehv u7amv u92m1 uanqz uaq3a uc2ku ugfq3 ugl9g ugudh ujtvs uk1mf ukdg9 ul29w unm1r
    usxjr utgzn uxzfc uyyh2 uz2st uzg8e v0mk7 v3d1w v5roc v724l va3xf vaons vdo7l ve339 vff3a vku1o vpwkn
    vqemq vrin0 vror0 vutgu vxvir w0h5o w2j3h w76gw w9qwe wabld wb9z0 wddxn we4hf wgh9i wgih8 wmm96 wp9n3
    wrcxd wtvms wutkz wya7x wz5jq x0yzb x11qe x1g6b x3i20 x9ci5 xaolj xb16t xdep4 xfwk7 xgm0t xgnks xhj06
    xhjz6 xhvy1 xkaa1 xlf8u xpv9l xqd2l xu7mc xuk2t xvzq3 y0pex y9v2l ya3sr yhrek yjghl ysv0c yzdl5 zam4f
    zhtbr zhzda zjd2o zkwq0 zn2hn zpikh zubh1 zzyhr 101n0q 103pge 108n4j 10dcf8 10etjr 10l4xx 10n9lg 10rsrc
    10s1jd 10sf3l 10txnp 1100vu 111b52 1152r2 117ig2 118m1z 118v4i 119jr7 119xhp 11aqow 11cfiz 11jgfv 11jpup
    11mv5e 11nm2v 11pqg9 11puqx 11rv18 11xmt0 11y90q 11zaz4 125qju 12a7gm 12ea6j 12pl4v 12sefe 12v69i 131diw
    131run 137qgu 139rio 13e5ir 13htrb 13jo4v 13l31h 13n778 13nkhc 13oavw 13q04n 13qil8 13rwmi 145w8i 14719q
    14dw95 14f0jd 14it3y 14m72z 14of70 14p29b 14tkm8 1543wm 154rhz 158m2o 159yed 15hua9 15i7ou 15i99a 15lzf9
    15ocvn 15q8xj 15rvuk 15turq 15v3al 15vtj7 15w6bp 15xxnu 160iz7 163zpw 167dfj 16a5di 16ao0u 16bhpr 16bqe5
    16hrkn 16ij3m 16pfop 16phbb 16s0gq 16sqcc 16vns6 16vvg7 16x2ft 16x3lt 173ig7 177bpq 177lqe 17ckw7 17ftms
    17goue 17houj 17qivf 17syqu 17tznv 17u781 17u8qv 17vq1r 1828o1 182hbx 184s57 1888o8 188rrw 18aue7 18gq1y
    18j677 18kuz1 18nxt9 18ogrk 18olgd 18owg1 18pohn 18pvk3 18vg50 191d1o 1923jp 192sxv 196k8h 19qtqe 19wp7q
    19x3qd 19yyez 19zk7t 1a038y 1a2c94 1a2myd 1a5hvo 1a67zt 1a928d 1aa3zb 1aadzr 1aaeqd 1abcif 1af7lq 1aoin0
    1ap2w9 1apely 1auq3u 1aw8gt 1ayof8 1b166j 1b5e0h 1b8ivd 1biolm 1bnnuf 1bqdrh 1brgkl 1buffb 1bxl1c 1c1ckt
    1c5yak 1cgf1p 1cllfy 1cokm3 1cso50 1cv3cc 1czpfd 1d1q6w 1d34kg 1d9phg 1devbv 1di3el 1djtva 1do2k5 1dp70s
    1e0xxa 1e0z4i 1e21pc 1e239r 1e6ntn 1e7v9b 1e8zpy 1eb5y6 1edu6b 1eh4lc 1elx2h 1endbh 1ent9t 1eo4yh 1eocj8
    1eta7t 1f669w 1f7buk 1fanfr 1fbhqf 1fe6qf 1ffn8i 1fhafg 1fke8a 1flyod 1fmtfc 1fpp6a 1fvdo9 1g36gl 1g62ak
    1g832a 1g87br 1g9wgy 1ga5km 1ggg2n 1gmjj7 1gmmbg 1gpntk 1gqw14 1gwwcs 1h1fpl 1h1ldt 1h3exp 1hdn83 1hdv1f
    1hex73 1hmbz7 1hobi9 1hp07g 1hq28h 1hxpv9 1hzcjq 1i02x7 1i0ozh 1i0sqi 1i1owj 1i6nwp 1i6toj 1i8c1i 1iabg8
    1iki0o 1im5bi 1iro9h 1iscy7 1iwhxw 1j0akl 1j20dc 1j2lup 1j6cfr 1jbkpc 1jcnqh 1jdfd1 1jotzb 1julc7 1jwde2
    1k0in7 1k6oru 1k8gc7 1kacuv 1kazw5 1kgup9 1kk35l 1km5ya 1kme8t 1knq7m 1kogju 1kpx55 1kti3m 1kuclf 1l1eup
    1l409f 1l7frs 1le7wy 1leo7p 1lgi2o 1lhbca 1lj0c0 1lp7pf 1lqq9e 1lr04h 1lufnc 1lv55i 1lv8bi 1lz4y9 1lzmh3
    1m6czu 1m9kvr 1m9uxe 1mcnkl 1mewr7 1mq35c 1mr7g5 1mv327 1mwxsc 1n17rc 1n1pgi 1n42v3 1ncfsk 1ndajo 1ng531
    1ngyc6 1nl67b 1nny43 1nusgk 1nxmi9 1ny9kr 1nzix4 1o0zw2 1o1frt 1o5ghl 1o6v75 1obdrn 1og0kd 1oj531 1on8f0
    1oy3tm 1p8z3g 1pagf9 1pbqn0 1pdcx2 1phxol 1pln7y 1prtyu 1ptmjd 1ptszy 1puz9t 1pvfvj 1pvwlr 1pvy7w 1pyfqp
    1q4eor 1q9cfp 1qa0tq 1qbfjp 1qd7np 1qdly4 1qft4h 1qknwa 1qm2e3 1qovgc 1qtgq4 1qxtw2 1r6v23 1r8j73 1ra4vt
    1rdlvl 1rgcy3 1rh3lm 1rncra 1rnqez 1rr385 1rr706 1ruoeg 1rus9s 1rw779 1s2nww 1s32g8 1se7vf 1sfe7g 1sj8na
    1sl8ji 1smnkl 1st0mc 1sthd4 1svc7x 1sxqnd 1sxr00 1t1t4t 1t4bct 1t5v4x 1t6ncj 1t6nlw 1teaxn 1ths9i 1tlgor
    1tmr1w 1tptnt 1trcuq 1trgpc 1tt67b 1txwpp 1u6rgt 1uddyp 1uhk0t 1unxz6 1up7rk 1uqefk 1uxyxg 1v0a1m 1v6c8g
    1v6ir3 1v819e 1v96ky 1v97ks 1vbzy1 1vdc3v 1ve850 1vmmq7 1vqrfa 1vrhw0 1vysrr 1vzzqb 1w1dq5 1w2mdj 1w2y2g
    1w72hm 1w7f1d 1w8t3k 1wdi0a 1whrn0 1wkrr6 1wlge0 1wpz54 1wq9qu 1wy2vs 1x6fm4 1x85tx 1x905o 1xaepk 1xhika
    1ximny 1xjk5r 1xnccu 1xvhgf 1xxnmx 1xy5ov 1ybe4r 1ycq72 1yfapu 1yfgvl 1ygcqw 1yiwv8 1ykrep 1ylrom 1yqh9x
    1yudih 1yvb4o 1yvleo 1ywv0n 1yxdvd 1yyiyh 1yz47z 1yz4i1 1yzqj6 1z22ek 1z5te1 1z6v62 1z8c9t 1z9nvb 1zbivq
    1zdf2k 1zeol1 1zioee 1zm4az 1znpr2 1zotco 1zq3oh 1zwq62 2014cd 203ivz 205hm3 208yiq 20gyl5 20l1ul 20nc0z
    20png8 20t7rb 20tqb7 20uk9h 20zxbf 2119m4 2123ci 2124kg 212c2y 217ehv 21bki1 21ebv3 21fk16 21h5cs 21mb7s
    21ovc5 21pu0i 21tx22 21xzrq 222men 227zhv 229msn 22bb0a 22bs43 22dbph 22e1x9 22ect7 22fdzn 22fexo 22g6lo
    22gxq4 22hqrr 22hyn7 22j4rb 22nas4 22t09x 22wrf0 2325qq 235y0a 236j2l 23ap4e 23bqdv 23cyds 23f5d9 23o70u
    23pk8d 23rbwn 242f9p 246prm 24agiq 24fdxe 24gqxs 24iv0s 24lfly 24lgoa 24pqcw 24s159 24sptx 24tbmf 24wjqc
    255rrg 257dzk 257m98 25blie 25gong 25hr1m 25lbki 25mh5p 25pgro 261ftw 26aa6t 26b6o4 26g93k 26lyfm 26m5e8
    26mnfs 26n0gr 26q8zm 26v69x 26zejs 2702gm 271xku 276jf9 279h4o 27b74l 27e50n 27elic 27mr62 27oobe 27rkh7
    27u42k 27vc9p 27vp2a 27xq6l 27xz9h 27yz4t 281ge8 28d4o0 28qb3f 28u188 28zclt 297thc 29ehkz 29ezfc 29iam1
    29tip2 29ugta 2a0gv9 2a3gjw 2a3ksc 2a50ce 2a6527 2aa7dy 2aavjv 2abvoj 2acunv 2afqlf 2agif0 2ah6sl 2aifhw
    2aizuc 2ajc0n 2amdyp 2anfpo 2anrhw 2ap16m 2arn6l 2b0mt1 2b1ax2 2b2ng2 2b67jc 2bb06r 2bb2wt 2bipij 2bj9v5
    2bk4rt 2bm5uc 2brdhr
    """

  private static let bodyNames = """
    3old 5ubx 8s0j azux ehav fdrr gt1a htlg mvlu n17o pwxv rvhc spbx vu5g yhcf yihk 108gr 14kys 16ucs 17o83
    19a5k 1abhp 1e2gu 1g4dz 1n7s5 1oyy2 1siy7 1tbrn 1w4v4 1xk6b 20jv0 22kjf 25jri 27kf1 2bdm3 2bqxv 2gx24
    2h749 2jscb 2k1lm 2nw6x 2o157 2r5na 2s8ee 2solu 2ttuz 2u6bb 2vu1f 31dox 38ywe 3fvb3 3mc3u 3o3ro 3pm9y
    3prh1 3xdux 3ylri 42hs4 4bvun 4e6gy 4gem4 4guyh 4h95k 4l84u 4mvpx 4mwtj 4nncj 4ra1i 4slfx 4xykr 518ev
    51c2y 58m7a 5hysb 5jsc6 5lvmg 5nole 5u14g 5vn23 656l8
    """

  private static let thumbNames = """
    4gvn 77xf bkqp bwtd miya notf nsxs rtp9 ukfr 10sn5 113z3 19r6l 1c9oi 1g86g 1kqa6 1nb9i 1odzo 1qka1 1u7xc
    1v82t 1vy81 1wjlo 1ymjg 1z78v 22otw 23o5n 24vev 26hvs 27n0d 29y4w 2gwz1 2hr04 2hr3n 2o32f 2oepf 2oydz
    2qs3u 2ry3t 2ui4o 2vztt 37tkr 3ex6u 3jol7 3papm 3pas8 3uz8o 3x1m0 44uqd 45rc1 46fu6 49k62 4eo5y 4feqp
    4qvhj 4u7t6 501hk 567qv 59vja 5b2f1 5ev65 5jibf 5tz73 5vz2r 5zonf 5zxgb 618xe 69ubi 6b0ql 6bquq 6hpom
    6jd2f 6kbfj 6l633 6mxbh 6qaoy 6sceg 6tvt7 6wvf1 720z1 74fks
    """
}
