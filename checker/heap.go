package checker

// heap is a heap of ids by keys, the smallest on top.
type heap []struct {
	key int64
	id  int32
}

func (h *heap) push(key int64, id int32) {
	*h = append(*h, struct {
		key int64
		id  int32
	}{key, id})
	for list, i := *h, len(*h)-1; i > 0 && list[i].key < list[(i-1)/2].key; i = (i - 1) / 2 {
		list[i], list[(i-1)/2] = list[(i-1)/2], list[i]
	}
}

func (h *heap) pop() {
	list := *h
	n := len(list) - 1
	list[0] = list[n]
	list = list[:n]
	*h = list
	for i := 0; ; {
		least := i
		for _, c := range [...]int{2*i + 1, 2*i + 2} {
			if c < n && list[c].key < list[least].key {
				least = c
			}
		}
		if least == i {
			return
		}
		list[i], list[least] = list[least], list[i]
		i = least
	}
}

// first returns the id with the smallest key below limit that skip does not reject,
// or none. It removes ids for which gone is true.
func (h *heap) first(limit int64, gone, skip func(id int32) bool) int32 {
	found := none
	var skipped heap
	for len(*h) > 0 && (*h)[0].key < limit {
		top := (*h)[0]
		if !gone(top.id) {
			if !skip(top.id) {
				found = top.id
				break
			}
			skipped = append(skipped, top)
		}
		h.pop()
	}
	for _, x := range skipped {
		h.push(x.key, x.id)
	}
	return found
}
